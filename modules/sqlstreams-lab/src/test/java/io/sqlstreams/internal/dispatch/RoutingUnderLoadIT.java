package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * Two clients consume for one group while producers write, the set of its bindings changes and
 * leases are taken away: each message is delivered if and only if the set matches it that holds at
 * its place.
 */
@SqlStreamsTest
class RoutingUnderLoadIT {
  private static final List<String> KEYS = List.of("a.x", "b.x", "c.x", "d.x");
  private static final int MESSAGES = 12_000;
  private static final int BATCH = 20;

  TestDatabase database;

  @Test
  void eachMessageIsDeliveredByTheSetThatHoldsAtItsPlace() throws Exception {
    long seed = Long.getLong("sqlstreams.routing.seed", System.nanoTime());
    Random random = new Random(seed);
    TestStream stream = TestStream.register(database);
    Set<Long> seen = ConcurrentHashMap.newKeySet();
    try (SqlStreams one = TestStream.client(database);
        SqlStreams other = TestStream.client(database)) {
      declare(one, stream, random);
      try (Consumer first = consume(one, stream, seen);
          Consumer second = consume(other, stream, seen)) {
        CompletableFuture<Void> producing =
            CompletableFuture.runAsync(() -> produce(other, stream, new Random(seed)));
        while (!producing.isDone()) {
          declare(random.nextBoolean() ? one : other, stream, random);
          if (random.nextInt(3) == 0) {
            stream.execute(
                "UPDATE {lease} SET expires_at = now() - INTERVAL '1 second', token = gen_random_uuid()"
                    + " WHERE token IN (SELECT token FROM {lease} LIMIT 1)");
          }
        }
        producing.get();
        stream.awaitSettled();
        Await.until("nothing is held", () -> stream.number("SELECT count(*) FROM {lease}") == 0);
        assertThat(first.counters().claimed() + second.counters().claimed()).isPositive();
      }
    }
    assertThat(new TreeSet<>(seen))
        .as("-Dsqlstreams.routing.seed=" + seed)
        .isEqualTo(new TreeSet<>(expected(stream)));
    assertThat(stream.number("SELECT count(*) FROM {trail}")).isGreaterThan(5);
    assertThat(stream.number("SELECT count(*) FROM {trail} WHERE result = 'waiting'")).isPositive();
  }

  /** By the trail alone. */
  private static List<Long> expected(TestStream stream) {
    TreeMap<Long, List<String>> setAbove = new TreeMap<>();
    for (String row :
        stream.rows(
            "SELECT above, array_to_string(patterns, ' ') FROM {trail} WHERE result <> 'joined' ORDER BY filter")) {
      String[] columns = row.split("\\|", -1);
      // the last one of those that begin at the same place
      setAbove.put(
          Long.parseLong(columns[0]),
          columns[1].isEmpty() ? List.of() : List.of(columns[1].split(" ")));
    }
    List<Long> expected = new ArrayList<>();
    for (String row : stream.rows("SELECT id, routing_key FROM {log} ORDER BY id")) {
      String[] columns = row.split("\\|");
      long id = Long.parseLong(columns[0]);
      List<String> patterns = setAbove.lowerEntry(id).getValue();
      if (patterns.isEmpty()
          || patterns.stream().anyMatch(pattern -> pattern.charAt(0) == columns[1].charAt(0))) {
        expected.add(id);
      }
    }
    return expected;
  }

  private static void declare(SqlStreams client, TestStream stream, Random random) {
    List<String> patterns =
        KEYS.stream().filter(key -> random.nextBoolean()).map(key -> key.charAt(0) + ".*").toList();
    GroupConfig config = GroupConfig.defaults();
    client.stream(stream.name())
        .group("g")
        .register(
            patterns.isEmpty()
                ? config
                : config.withBindings(
                    patterns.get(0), patterns.subList(1, patterns.size()).toArray(String[]::new)));
  }

  private static Consumer consume(SqlStreams client, TestStream stream, Set<Long> seen) {
    return Consumer.start(
        client,
        stream,
        message -> {
          seen.add(message.id());
          return Outcome.done();
        });
  }

  private static void produce(SqlStreams client, TestStream stream, Random random) {
    Producer<RawPayload> producer = client.stream(stream.name()).producer();
    for (int i = 0; i < MESSAGES / BATCH; i++) {
      producer.produceAll(
          IntStream.range(0, BATCH)
              .mapToObj(
                  n ->
                      Outgoing.of(
                          RawPayload.of("{}"),
                          ProduceOptions.defaults()
                              .withRoutingKey(KEYS.get(random.nextInt(KEYS.size())))))
              .toList());
    }
  }
}
