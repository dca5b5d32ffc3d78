package io.sqlstreams.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Outcome;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.Ledger;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.Plans;
import io.sqlstreams.lab.Terms;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Worker;
import io.sqlstreams.lab.Workers;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a head has replaced is stepped over, and nothing else. */
@SqlStreamsTest
class SupersededIT {
  private static final long ANY_BYTES = Long.MAX_VALUE;

  TestDatabase database;
  @TempDir Path directory;
  private SqlStreams client;
  private TestStream stream;

  @BeforeEach
  void open() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private Producer<RawPayload> producer() {
    return client.stream(stream.name()).producer();
  }

  private long produce(String key, long rank) {
    return producer()
        .produce(RawPayload.of("1"), ProduceOptions.key(key).withCompaction(rank))
        .id();
  }

  private long plain(String key) {
    return producer().produce(RawPayload.of("1"), ProduceOptions.key(key)).id();
  }

  private Claims claims() {
    return new Claims(
        new Database(stream.dataSource(), database.schema()),
        stream.scope(),
        "g",
        new Claimant(stream.group().id(), UUID.randomUUID(), Duration.ofHours(1)));
  }

  private List<Long> take(Claims claims) {
    return ids(claims.claim(100, ANY_BYTES, true, false, Terms.none()).range());
  }

  private static List<Long> ids(ClaimedRange range) {
    return range == null
        ? List.of()
        : range.messages().stream().map(claimed -> claimed.message().id()).toList();
  }

  private List<String> deliveries() {
    return stream.rows(
        "SELECT message_id, attempt, status, error FROM {deliveries} ORDER BY message_id");
  }

  private void awaitNothingOpen() {
    Await.until(
        "nothing is open",
        () ->
            stream.number("SELECT claimed FROM {cursor}")
                    == stream.number("SELECT max(id) FROM {log}")
                && stream.number("SELECT count(*) FROM {lease}") == 0
                && stream.number("SELECT count(*) FROM {queue} WHERE status <> 'superseded'") == 0);
  }

  private void expire() {
    stream.execute("UPDATE {lease} SET expires_at = now() - INTERVAL '1 second'");
  }

  @Test
  void whatAHeadHasReplacedIsRecordedAndNotDelivered() {
    long beaten = produce("a", 0);
    long notCompacted = plain("a");
    long other = produce("b", 0);
    long head = produce("a", 0);
    long lost = produce("a", -1);
    assertThat(take(claims())).containsExactly(notCompacted, other, head);
    assertThat(deliveries())
        .containsExactly(
            beaten + "|0|superseded|message " + head + " has taken its place",
            lost + "|0|superseded|message " + head + " has taken its place");
    assertThat(stream.rows("SELECT low, high, excluded FROM {lease}"))
        .containsExactly("0|" + lost + "|{" + beaten + "," + lost + "}");
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
    assertThat(stream.number("SELECT claimed FROM {cursor}")).isEqualTo(lost);
  }

  @Test
  void aRangeOfWhichNothingIsLeftHasNoLeaseAndIsPassed() {
    produce("a", 5);
    assertThat(take(claims())).hasSize(1);
    stream.execute("DELETE FROM {lease}");
    produce("a", 1);
    long last = produce("a", 2);
    Poll poll = claims().claim(100, ANY_BYTES, true, false, Terms.logging(DeliveryLogMode.OFF));
    assertThat(poll.moved()).isTrue();
    assertThat(poll.range()).isNull();
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
    assertThat(deliveries()).as("the group keeps no log").isEmpty();
    claims().advanceCommitted();
    assertThat(stream.number("SELECT committed FROM {cursor}")).isEqualTo(last);
  }

  @Test
  void aHeadThatIsNotCommittedOrWasRolledBackReplacesNothing() {
    long first = produce("a", 0);
    try (NamedTransaction open = stream.begin("open")) {
      producer()
          .in(open.connection())
          .produce(RawPayload.of("2"), ProduceOptions.key("a").withCompaction());
      assertThat(take(claims())).containsExactly(first);
      open.rollsBack();
    }
    long second = produce("a", 0);
    stream.execute("UPDATE {cursor} SET settled_head = " + second);
    assertThat(take(claims())).containsExactly(second);
  }

  @Test
  void aHeadOfASchemaVersionThatTheGroupDoesNotReadReplacesNothing() {
    long first = produce("a", 0);
    stream.execute("UPDATE {log} SET schema_version = 2 WHERE id = " + produce("a", 0));
    stream.execute("UPDATE {heads} SET schema_version = 2");
    stream.execute("UPDATE {cursor} SET schema_versions = '{1}'");
    assertThat(take(claims())).containsExactly(first);
  }

  @Test
  void aHeadOfANewerSchemaVersionThatTheGroupReadsReplacesOlderOnes() {
    produce("a", 0);
    long second = produce("a", 0);
    stream.execute("UPDATE {log} SET schema_version = 2 WHERE id = " + second);
    stream.execute("UPDATE {heads} SET schema_version = 2");
    long third = produce("a", 7);
    assertThat(take(claims())).as("%d is of version 1", third).containsExactly(second);
  }

  @Test
  void aHeadThatTheGroupIsNotBoundToReplacesNothing() {
    client.stream(stream.name())
        .group("g")
        .register(GroupConfig.defaults().withBindings("orders.eu.*"));
    long beaten = produceTo("orders.eu.1");
    long first = produceTo("orders.eu.2");
    assertThat(take(claims())).containsExactly(first);
    stream.execute("DELETE FROM {lease}");
    long second = produceTo("orders.eu.3");
    produceTo("orders.us.4");
    assertThat(take(claims()))
        .as("%d is no message of the group's", beaten)
        .containsExactly(second);
  }

  private long produceTo(String routingKey) {
    return producer()
        .produce(
            RawPayload.of("1"), ProduceOptions.key("a").withRoutingKey(routingKey).withCompaction())
        .id();
  }

  @Test
  void whatIsReplacedAfterTheClaimIsNotTakenOverFromADeadSession() {
    long beaten = produce("a", 0);
    long kept = produce("b", 0);
    assertThat(take(claims())).containsExactly(beaten, kept);
    long head = produce("a", 0);
    expire();
    Claims other = claims();
    assertThat(ids(other.reclaim(3, Terms.none()).range())).containsExactly(kept);
    assertThat(deliveries())
        .containsExactly(beaten + "|0|superseded|message " + head + " has taken its place");
    assertThat(stream.rows("SELECT excluded FROM {lease}")).containsExactly("{" + beaten + "}");
    produce("b", 0);
    expire();
    assertThat(other.reclaim(3, Terms.none()).range()).as("nothing is left of it").isNull();
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
    assertThat(deliveries()).hasSize(2);
  }

  @Test
  void whatIsReplacedIsNotQuarantinedEither() {
    produce("a", 0);
    long kept = plain("a");
    take(claims());
    produce("a", 0);
    expire();
    assertThat(claims().reclaim(0, Terms.none()).quarantined()).isEqualTo(1);
    assertThat(stream.longs("SELECT message_id FROM {queue}")).containsExactly(kept);
  }

  @Test
  void aDueRetryThatIsReplacedMeanwhileIsNotRunButEndsAsSuperseded() {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults()
                .withRetry(RetryPolicy.defaults().withInitialBackoff(Duration.ofMillis(1))));
    long failing = produce("a", 0);
    long forever = plain("a");
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == failing && message.attempt() == 0) {
                return Outcome.delay(Duration.ofHours(1));
              }
              return Outcome.done();
            })) {
      consumer.awaitReceived(2);
      Await.until("the retry waits", () -> stream.number("SELECT count(*) FROM {queue}") == 1);
      long head = produce("a", 0);
      consumer.awaitReceived(3);
      stream.execute("UPDATE {queue} SET can_run_after = now()");
      Await.until(
          "it is over",
          () -> stream.number("SELECT count(*) FROM {queue} WHERE status = 'superseded'") == 1);
      assertThat(consumer.ids()).containsExactlyInAnyOrder(failing, forever, head);
      assertThat(stream.rows("SELECT status, last_error FROM {queue}"))
          .containsExactly("superseded|message " + head + " has taken its place");
      assertThat(stream.rows("SELECT status FROM {deliveries} ORDER BY id"))
          .containsExactly("delayed", "superseded");
    }
  }

  @Test
  void aTombstoneIsDeliveredAsOneWhateverTheHandlerGets() {
    producer().produce(RawPayload.of("1"), ProduceOptions.key("a").withCompaction());
    long gone = producer().produceTombstone("a").id();
    try (Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      consumer.awaitReceived(1);
      stream.awaitSettled();
      assertThat(consumer.received()).hasSize(1);
      assertThat(consumer.received().get(0).id()).isEqualTo(gone);
      assertThat(consumer.received().get(0).isTombstone()).isTrue();
      assertThat(consumer.received().get(0).payload()).isNull();
    }
  }

  @Test
  void aMessageWithoutAPayloadThatIsNotCompactedStaysAnError() {
    stream.execute("INSERT INTO {log} (schema_version) VALUES (1)");
    try (Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      Await.until("it fails", () -> stream.number("SELECT count(*) FROM {queue}") == 1);
      assertThat(consumer.received()).isEmpty();
    }
  }

  @Test
  void aSlowGroupThatIsKilledAgainAndAgainEndsWithEachKeysHead() throws Exception {
    Random random = new Random(11);
    try (Workers workers = new Workers(database, stream, directory)) {
      for (int round = 0; round < 4; round++) {
        // one process with one handler at a time: what comes later is newer
        Worker worker =
            workers.start(workers.settings().withHandlers(1, 20, 2).withLeaseMillis(1_000));
        int before = worker.entries().size();
        for (int i = 0; i < 150; i++) {
          produce("k" + random.nextInt(20), random.nextInt(3));
        }
        // there may be as few messages left as keys
        worker.awaitEntries(before + 1 + random.nextInt(8));
        worker.kill();
      }
      workers.start(workers.settings().withHandlers(1, 20, 1));
      awaitNothingOpen();
      Map<Long, String> keys =
          stream.rows("SELECT id, message_key FROM {log}").stream()
              .map(row -> row.split("\\|", 2))
              .collect(Collectors.toMap(row -> Long.parseLong(row[0]), row -> row[1]));
      Map<String, Long> last =
          workers.entries().stream()
              .sorted(Comparator.comparingLong(Ledger.Entry::begun))
              .collect(
                  Collectors.toMap(
                      entry -> keys.get(entry.id()), Ledger.Entry::id, (before, next) -> next));
      Map<String, Long> heads =
          stream.rows("SELECT compaction_key, message_id FROM {heads}").stream()
              .map(row -> row.split("\\|", 2))
              .collect(Collectors.toMap(row -> row[0], row -> Long.parseLong(row[1])));
      assertThat(last).isEqualTo(heads);
      assertThat(
              stream.number(
                  "SELECT count(DISTINCT message_id) FROM {deliveries} WHERE status = 'superseded'"))
          .isPositive();
    }
  }

  @Test
  void severalSlowProcessesOfAGroupDeliverEveryHead() throws Exception {
    Random random = new Random(12);
    ConsumeOptions options = Consumer.QUICK.withHandlers(2).withMaxClaim(7);
    List<Consumer> consumers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      consumers.add(
          Consumer.start(
              client,
              stream,
              message -> {
                TimeUnit.MILLISECONDS.sleep(2);
                return message.attempt() == 0 && message.id() % 9 == 0
                    ? Outcome.delay(Duration.ofMillis(30))
                    : Outcome.done();
              },
              options));
    }
    for (int i = 0; i < 600; i++) {
      produce("k" + random.nextInt(30), random.nextInt(2));
    }
    awaitNothingOpen();
    List<Long> delivered = consumers.stream().flatMap(consumer -> consumer.ids().stream()).toList();
    assertThat(delivered).containsAll(stream.longs("SELECT message_id FROM {heads}"));
    List<Long> accounted = new ArrayList<>(delivered);
    accounted.addAll(
        stream.longs("SELECT message_id FROM {deliveries} WHERE status = 'superseded'"));
    assertThat(accounted).containsAll(stream.longs("SELECT id FROM {log}"));
    consumers.forEach(Consumer::close);
  }

  @Test
  void aClaimLooksUpHeadsByKeyEvenInAPlanMadeForNone() throws SQLException {
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      statement.execute("SET plan_cache_mode = force_generic_plan");
      statement.execute("SET enable_seqscan = off");
      Map<String, String> values =
          Map.of(
              "group", stream.group().id() + "::BIGINT",
              "max_messages", "500::INT",
              "max_bytes", "1000000000::BIGINT",
              "take_suspect", "true",
              "logs", "true",
              "held", "ARRAY[]::UUID[]",
              "token", "gen_random_uuid()",
              "session", "gen_random_uuid()",
              "lease_us", "60000000::BIGINT");
      Plans.prepare(stream, statement, "kept", ClaimSql.CLAIM);
      Plans.explain(stream, statement, "kept", ClaimSql.CLAIM, values);
      stream.execute(
          "INSERT INTO {log} (schema_version, message_key, compaction_rank, payload)"
              + " SELECT 1, 'k' || i % 50000, 0, '{}' FROM generate_series(1, 100000) AS i");
      stream.execute(
          "INSERT INTO {heads} (compaction_key, message_id, schema_version, compaction_rank)"
              + " SELECT message_key, max(id), 1, 0 FROM {log} GROUP BY message_key");
      String plan = Plans.explain(stream, statement, "kept", ClaimSql.CLAIM, values);
      assertThat(plan).doesNotContain("Seq Scan on compaction_head");
      // 500 look-ups of three to four pages each, and 500 rows of history
      assertThat(Plans.buffers(plan)).as(plan).isLessThan(8_000);
      assertThat(stream.number("SELECT count(*) FROM {deliveries}")).isEqualTo(500);
    }
  }
}
