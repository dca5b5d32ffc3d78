package io.sqlstreams.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Binding;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.Terms;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a claim takes of a group that doesn't read everything. */
@SqlStreamsTest
class FilterIT {
  private static final GroupConfig ALL = GroupConfig.defaults();

  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  Claims claims;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
    claims = claims();
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void anyBindingMayMatchAndAllPairsOfAHeaderBindingMust() {
    declare(
        ALL.withBindings(
            Binding.routingKey("orders.eu.*"),
            Binding.routingKey("audit"),
            Binding.header("region", "eu").and("tier", "gold")));
    insert("orders.eu.placed", null); // 1
    insert("orders.us.placed", null);
    insert("audit", null); // 3
    insert("audit.x", null);
    insert(null, "{\"region\": \"eu\", \"tier\": \"gold\", \"more\": \"x\"}"); // 5
    insert(null, "{\"region\": \"eu\"}");
    insert(null, "{\"region\": \"eu\", \"tier\": \"GOLD\"}");
    insert("orders.us", "{\"tier\": \"gold\", \"region\": \"eu\"}"); // 8
    insert("orders.eu.", null); // 9
    insert(null, null);
    insert("orders.eu", "{\"region\": [\"eu\"], \"tier\": [\"gold\"]}");
    assertThat(take(100)).containsExactly(1L, 3L, 5L, 8L, 9L);
    assertThat(stream.number("SELECT claimed FROM {cursor}")).isEqualTo(11);
    assertThat(stream.rows("SELECT low, high, included FROM {lease}"))
        .containsExactly("0|11|{1,3,5,8,9}");
  }

  @Test
  void aStarMatchesEveryRoutingKeyAndNoneIsNotOne() {
    declare(ALL.withBindings("*"));
    insert("a", null);
    insert("", null);
    insert("a\nb", null);
    insert(null, null);
    assertThat(take(10)).containsExactly(1L, 2L, 3L);
  }

  @Test
  void whereNothingMatchesTheCursorMovesWithoutALease() {
    declare(ALL.withBindings("x"));
    stream.produce(10);
    Poll poll = poll(10);
    assertThat(poll.moved()).isTrue();
    assertThat(poll.range()).isNull();
    assertThat(stream.number("SELECT claimed FROM {cursor}")).isEqualTo(10);
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
    long version = stream.number("SELECT xmin::TEXT::BIGINT FROM {cursor}");
    assertThat(poll(10).moved()).isFalse();
    assertThat(stream.number("SELECT xmin::TEXT::BIGINT FROM {cursor}")).isEqualTo(version);
  }

  @Test
  void aRangeOfWhichEverythingMatchesHasNoList() {
    declare(ALL.withBindings("x"));
    insert("x", null);
    insert("x", null);
    assertThat(take(10)).containsExactly(1L, 2L);
    assertThat(stream.rows("SELECT included IS NULL FROM {lease}")).containsExactly("t");
  }

  @Test
  void theLimitsCountWhatMatchesAlone() {
    declare(ALL.withBindings("x"));
    for (int i = 0; i < 10; i++) {
      insert("y", null);
      insert("x", null);
    }
    Poll poll = claims.claim(3, Long.MAX_VALUE, true, false, Terms.none());
    // the first walk is as long as what may be taken
    assertThat(ids(poll)).containsExactly(2L);
    // 3 bytes are more than one payload, and less than two
    assertThat(ids(claims.claim(3, 3, true, false, Terms.none()))).containsExactly(4L);
    // how far a claim looks depends on how long the one before has taken, but not what it takes
    List<Long> taken = new ArrayList<>();
    while (taken.size() < 8) {
      List<Long> next = ids(claims.claim(3, Long.MAX_VALUE, true, false, Terms.none()));
      assertThat(next).hasSizeBetween(1, 3);
      taken.addAll(next);
    }
    assertThat(taken).containsExactly(6L, 8L, 10L, 12L, 14L, 16L, 18L, 20L);
  }

  @Test
  void aGapStopsTheWalkWhateverLiesBehindIt() {
    declare(ALL.withBindings("x"));
    try (NamedTransaction open = stream.begin("open")) {
      insert("y", null);
      open.inserts();
      insert("x", null);
      assertThat(poll(10).range()).isNull();
      assertThat(stream.number("SELECT claimed FROM {cursor}")).isEqualTo(1);
      assertThat(poll(10).atGap()).isTrue();
      open.commits();
    }
    assertThat(take(10)).containsExactly(3L);
  }

  /** Steps: the claim waits for the cursor's lock while the set changes. */
  @Test
  void aClaimThatWaitedWhileTheSetChangedTakesNothing() throws Exception {
    declare(ALL.withBindings("old"));
    insert("old", null);
    insert("new", null);
    try (NamedTransaction other = stream.begin("other")) {
      other.runs("SELECT claimed FROM {cursor} FOR UPDATE");
      CompletableFuture<Poll> waiting =
          CompletableFuture.supplyAsync(
              () -> claims.claim(10, Long.MAX_VALUE, true, false, Terms.none()));
      stream.awaitClaimThatWaits();
      // as a declaration does
      other.runs("UPDATE {cursor} SET filter = filter + 1, filter_above = claimed");
      other.runs("UPDATE {bindings} SET pattern = 'new', regex = '^new$'");
      other.commits();
      Poll poll = waiting.get();
      assertThat(poll.moved()).isFalse();
      assertThat(poll.range()).isNull();
      assertThat(poll.isBehind()).isTrue();
    }
    assertThat(stream.number("SELECT claimed FROM {cursor}")).isZero();
    assertThat(take(10)).containsExactly(2L);
  }

  /** Steps: the declaration waits for a claim that is under way. */
  @Test
  void aDeclarationWaitsForTheClaimUnderWayAndStandsAboveIt() throws Exception {
    declare(ALL.withBindings("old"));
    insert("old", null);
    insert("new", null);
    CompletableFuture<Void> declaring;
    try (NamedTransaction claim = stream.begin("claim")) {
      claim.runs("UPDATE {cursor} SET claimed = 1");
      claim.runs(
          "INSERT INTO {lease} (token, consumer_group_id, low, high, expires_at, session, filter)"
              + " SELECT gen_random_uuid(), consumer_group_id, 0, 1, now() + INTERVAL '1 hour', gen_random_uuid(), filter"
              + " FROM {cursor}");
      declaring = CompletableFuture.runAsync(() -> declare(ALL.withBindings("new")));
      stream.awaitWaiting("change_filter");
      claim.commits();
    }
    declaring.get();
    assertThat(stream.rows("SELECT result, above FROM {trail} ORDER BY id DESC LIMIT 1"))
        .containsExactly("waiting|1");
    assertThat(take(10)).containsExactly(2L);
  }

  @Test
  void aRangeThatIsTakenOverIsReadByTheSetUnderWhichItWasClaimed() {
    declare(ALL.withBindings("old"));
    insert("old", null);
    insert("new", null);
    insert("old", null);
    insert("new", null);
    assertThat(take(10)).containsExactly(1L, 3L);
    declare(ALL.withBindings("new"));
    for (int times = 1; times <= 3; times++) {
      stream.execute("UPDATE {lease} SET expires_at = now() - INTERVAL '1 second'");
      ClaimedRange again = claims.reclaim(3, Terms.none()).range();
      assertThat(again).isNotNull();
      assertThat(again.messages())
          .extracting(claimed -> claimed.message().id())
          .containsExactly(1L, 3L);
    }
    // what is done of it stays done
    stream.execute("UPDATE {lease} SET low = 1, expires_at = now() - INTERVAL '1 second'");
    Reclaim last = claims.reclaim(3, Terms.none());
    assertThat(last.quarantined()).isEqualTo(1);
    assertThat(stream.longs("SELECT message_id FROM {queue}")).containsExactly(3L);
  }

  @Test
  void aRangeOfWhichEverythingThatMatchedIsDoneJustEnds() {
    declare(ALL.withBindings("x"));
    insert("x", null);
    insert("y", null);
    assertThat(take(10)).containsExactly(1L);
    stream.execute("UPDATE {lease} SET low = 1, expires_at = now() - INTERVAL '1 second'");
    Reclaim reclaim = claims.reclaim(3, Terms.none());
    assertThat(reclaim.found()).isTrue();
    assertThat(reclaim.range()).isNull();
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
  }

  @Test
  void whatIsPassedOverIsGoneOverInLargeSteps() {
    declare(ALL.withBindings("x"));
    stream.execute(
        "INSERT INTO {log} (schema_version, routing_key, payload)"
            + " SELECT 1, CASE WHEN i % 1000 = 0 THEN 'x' ELSE 'y' END, '{}' FROM generate_series(1, 100000) AS i");
    List<Long> taken = new ArrayList<>();
    int steps = 0;
    Poll poll = poll(100);
    while (poll.moved()) {
      taken.addAll(ids(poll));
      steps++;
      poll = poll(100);
    }
    assertThat(taken).isEqualTo(IntStream.rangeClosed(1, 100).mapToObj(i -> i * 1000L).toList());
    // 11 when the server isn't slowed down by others; 1,000 without
    assertThat(steps).isLessThan(100);
  }

  @Test
  void aThousandBindingsAreComparedWithEachMessage() {
    Set<Binding> bindings =
        IntStream.range(0, GroupConfig.MAX_BINDINGS)
            .mapToObj(i -> Binding.routingKey("tenant-" + i + ".*"))
            .collect(java.util.stream.Collectors.toSet());
    declare(ALL.withBindings(bindings));
    stream.execute(
        "INSERT INTO {log} (schema_version, routing_key, payload)"
            + " SELECT 1, 'tenant-' || i || '.orders', '{}' FROM generate_series(1, 2000) AS i");
    assertThat(take(2_000)).hasSize(GroupConfig.MAX_BINDINGS - 1).allMatch(id -> id < 1_000);
  }

  /**
   * Patterns and keys of characters that mean something in regular expressions, in LIKE or in
   * neither; compared with a matcher that knows none of them. The regular expression that is stored
   * beside the pattern means the same.
   */
  @Test
  void b51_everyCharacterButTheStarIsLiteral() {
    long seed = Long.getLong("sqlstreams.filter.seed", System.nanoTime());
    Random random = new Random(seed);
    List<String> keys = IntStream.range(0, 400).mapToObj(i -> text(random, false)).toList();
    for (String key : keys) {
      insert(key, null);
    }
    for (int round = 0; round < 40; round++) {
      String pattern = text(random, true) + (random.nextInt(3) == 0 ? "*" : "");
      if (pattern.isEmpty()) {
        continue;
      }
      declare(ALL.withBindings(pattern));
      stream.execute("DELETE FROM {lease}");
      stream.execute("UPDATE {cursor} SET claimed = 0, committed = 0");
      List<Long> expected = new ArrayList<>();
      for (int i = 0; i < keys.size(); i++) {
        if (matches(pattern, keys.get(i))) {
          expected.add(i + 1L);
        }
      }
      String what = "pattern " + pattern + ", -Dsqlstreams.filter.seed=" + seed;
      assertThat(take(1_000)).as(what).isEqualTo(expected);
      assertThat(
              stream.longs(
                  "SELECT log.id FROM {log} AS log JOIN {bindings} AS binding ON log.routing_key ~ binding.regex ORDER BY 1"))
          .as(what)
          .isEqualTo(expected);
    }
  }

  private static String text(Random random, boolean pattern) {
    String[] parts = {
      "a", "b", ".", "%", "_", "\\", "(", ")", "[", "]", "{2}", "+", "?", "|", "^", "$", "-", "é",
      "🙂", "\n", "d", "'", "#", " "
    };
    StringBuilder text = new StringBuilder();
    int length = random.nextInt(pattern ? 4 : 5);
    for (int i = 0; i < length; i++) {
      text.append(pattern && random.nextInt(3) == 0 ? "*" : parts[random.nextInt(parts.length)]);
    }
    return text.toString();
  }

  private static boolean matches(String pattern, String key) {
    if (pattern.isEmpty()) {
      return key.isEmpty();
    }
    if (pattern.charAt(0) == '*') {
      return matches(pattern.substring(1), key)
          || (!key.isEmpty() && matches(pattern, key.substring(1)));
    }
    return !key.isEmpty()
        && key.charAt(0) == pattern.charAt(0)
        && matches(pattern.substring(1), key.substring(1));
  }

  private void declare(GroupConfig config) {
    ConsumerGroup<RawPayload> group = client.stream(stream.name()).group(stream.group().name());
    group.register(config);
  }

  private void insert(String routingKey, String headers) {
    try (var connection = stream.dataSource().getConnection();
        var insert =
            connection.prepareStatement(
                stream.sql(
                    "INSERT INTO {log} (schema_version, routing_key, headers, payload) VALUES (1, ?, ?::JSONB, '{}')"))) {
      insert.setString(1, routingKey);
      insert.setString(2, headers);
      insert.executeUpdate();
    } catch (java.sql.SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** What there is, by as many claims as that takes. */
  private List<Long> take(int most) {
    List<Long> taken = new ArrayList<>();
    Poll poll = poll(most);
    while (poll.moved()) {
      taken.addAll(ids(poll));
      poll = poll(most);
    }
    return taken;
  }

  private Poll poll(int most) {
    return claims.claim(most, Long.MAX_VALUE, true, false, Terms.none());
  }

  private Claims claims() {
    return new Claims(
        new Database(stream.dataSource(), database.schema()),
        stream.scope(),
        "g",
        new Claimant(stream.group().id(), UUID.randomUUID(), Duration.ofSeconds(60)));
  }

  private static List<Long> ids(Poll poll) {
    ClaimedRange range = poll.range();
    return range == null
        ? List.of()
        : range.messages().stream().map(claimed -> claimed.message().id()).toList();
  }
}
