package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Ledger;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Worker;
import io.sqlstreams.lab.Workers;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Worker processes that are frozen, killed and asked to end. */
@SqlStreamsTest
class CrashIT {
  TestDatabase database;
  @TempDir Path directory;

  @Test
  void b31_aFrozenWorkerComesBackTooLateAndChangesNothing() {
    TestStream stream = TestStream.register(database);
    List<Long> ids = stream.produce(40);
    try (Workers workers = new Workers(database, stream, directory)) {
      Worker a = workers.start(workers.settings().withHandlers(2, 40, 50));
      a.awaitEntries(3);
      a.freeze();
      int before = a.entries().size();
      Worker b = workers.start();
      Await.until("b has done what a left", () -> settled(stream));
      assertThat(b.entries()).hasSizeGreaterThanOrEqualTo(ids.size() - before - 2);
      List<String> state = state(stream);
      a.thaw();
      Await.until("a has handled something after the thaw", () -> a.entries().size() > before);
      String counters = a.finish();
      assertThat(counters).matches(".*leaseLost=[1-9].*");
      assertThat(state(stream)).isEqualTo(state);
      assertThat(handled(workers)).containsAll(ids);
    }
  }

  @Test
  void b37_aKilledWorkersMessagesGoOnWithinALeaseAndATerminatedOnesAtOnce() {
    TestStream stream = TestStream.register(database);
    try (Workers workers = new Workers(database, stream, directory)) {
      Worker killed = workers.start(workers.settings().withHandlers(10, 50, 200));
      Worker second = workers.start(workers.settings().withHandlers(10, 50, 20));
      List<Long> first = new ArrayList<>(stream.produce(200));
      first.addAll(produceUntilDone(stream, killed, 10));
      killed.kill();
      long killedAt = System.nanoTime();
      Await.until("everything is done", () -> settled(stream));
      assertThat(handled(workers)).containsAll(first);
      assertThat(Duration.ofNanos(System.nanoTime() - killedAt))
          .isLessThan(Duration.ofSeconds(2 + 5));

      second.terminate();
      Worker terminated = workers.start(workers.settings().withHandlers(2, 50, 100));
      List<Long> more = stream.produce(50);
      terminated.awaitEntries(2);
      terminated.terminate();
      assertThat(stream.rows("SELECT session, reclaims, expires_at <= now() FROM {lease}"))
          .as("given back, nobody's, without a reclaim")
          .isNotEmpty()
          .containsOnly("null|0|t");
      Worker last = workers.start(workers.settings().withHandlers(10, 50, 1));
      Await.until("everything is done", () -> settled(stream));
      assertThat(handled(workers)).containsAll(more);
      List<Long> twice = duplicates(workers);
      assertThat(twice).as("after SIGTERM nothing comes twice").doesNotContainAnyElementsOf(more);
      assertThat(last.finish()).contains("quarantined=0").contains("leaseLost=0");
    }
  }

  @Test
  void b36_noMessageHasTwoOwnersAtATimeWhileWorkersComeAndGo() {
    TestStream stream = TestStream.register(database);
    try (Workers workers = new Workers(database, stream, directory)) {
      Worker a = workers.start();
      Worker b = workers.start();
      Worker c = workers.start();
      List<Long> ids = new ArrayList<>(stream.produce(1_500));
      ids.addAll(produceUntilDone(stream, a, 50));
      a.kill();
      workers.start();
      workers.start();
      ids.addAll(produceUntilDone(stream, b, 50));
      ids.addAll(produceUntilDone(stream, c, 50));
      Await.until("everything is done", () -> settled(stream));
      assertThat(handled(workers)).containsAll(ids);
      Set<Long> ofKilled = a.entries().stream().map(Ledger.Entry::id).collect(Collectors.toSet());
      assertThat(duplicates(workers)).allSatisfy(id -> assertThat(ofKilled).contains(id));
      assertNoOverlap(workers);
      assertThat(database.deadlocks()).isEmpty();
    }
  }

  @Test
  void aMessageThatEndsTheProcessTakesNoNeighbourAlong() {
    GroupConfig config =
        GroupConfig.defaults()
            .withMaxRangeReclaims(1)
            .withRetry(
                RetryPolicy.defaults()
                    .withMaxRetries(1)
                    .withInitialBackoff(Duration.ofMillis(10))
                    .withBackoff(Duration.ofMillis(10), 1));
    TestStream stream = TestStream.register(database, StreamConfig.defaults(), config);
    List<Long> ids = stream.produce(10);
    long poison = ids.get(4);
    try (Workers workers = new Workers(database, stream, directory)) {
      var settings = workers.settings().withHandlers(1, 10, 1).withPoison(poison);
      // range claimed, range taken over, range dissolved: poison alone as attempt 0, then as
      // attempt 1
      while (stream.number("SELECT count(*) FROM {queue} WHERE status = 'dead'") == 0) {
        Worker worker = workers.start(settings);
        Await.until(
            "the poison killed the worker, or is dead",
            () ->
                !worker.isAlive()
                    || stream.number("SELECT count(*) FROM {queue} WHERE status = 'dead'") == 1);
        worker.close();
      }
      workers.start(settings);
      Await.until("everything else is done", () -> settled(stream));
      assertThat(handled(workers)).containsAll(ids.stream().filter(id -> id != poison).toList());
      assertThat(stream.rows("SELECT message_id, status, attempts FROM {queue}"))
          .containsExactly(poison + "|dead|2");
      assertThat(stream.rows("SELECT message_id, attempt, status FROM {deliveries} ORDER BY id"))
          .containsExactly(poison + "|0|expired", poison + "|1|expired");
    }
  }

  /**
   * Produces, one by one, until this worker has done so many: on a busy machine the others may do
   * everything there is before it gets a share, and then it never gets one.
   */
  private static List<Long> produceUntilDone(TestStream stream, Worker worker, int entries) {
    List<Long> ids = new ArrayList<>();
    Await.until(
        "the worker has done " + entries + " messages",
        () -> {
          ids.addAll(stream.produce(1));
          return worker.entries().size() >= entries;
        });
    return ids;
  }

  /** Nothing is open, and nothing waits except dead messages. */
  private static boolean settled(TestStream stream) {
    return stream.number("SELECT count(*) FROM {lease}") == 0
        && stream.number("SELECT count(*) FROM {queue} WHERE status <> 'dead'") == 0
        && stream.number("SELECT max(id) FROM {log}")
            == stream.number("SELECT claimed FROM {cursor}")
        && stream.number("SELECT claimed - committed FROM {cursor}") == 0;
  }

  private static List<String> state(TestStream stream) {
    return List.of(
        stream.rows("SELECT claimed, committed FROM {cursor}").toString(),
        stream.rows("SELECT token FROM {lease}").toString(),
        stream.rows("SELECT message_id, status, attempts FROM {queue}").toString(),
        stream.rows("SELECT message_id, status FROM {deliveries}").toString());
  }

  private static Set<Long> handled(Workers workers) {
    return workers.entries().stream().map(Ledger.Entry::id).collect(Collectors.toSet());
  }

  private static List<Long> duplicates(Workers workers) {
    return workers.entries().stream()
        .collect(Collectors.groupingBy(Ledger.Entry::id, Collectors.counting()))
        .entrySet()
        .stream()
        .filter(entry -> entry.getValue() > 1)
        .map(Map.Entry::getKey)
        .toList();
  }

  private static void assertNoOverlap(Workers workers) {
    workers.entries().stream()
        .collect(Collectors.groupingBy(Ledger.Entry::id))
        .forEach(
            (id, entries) -> {
              List<Ledger.Entry> inOrder =
                  entries.stream().sorted(Comparator.comparing(Ledger.Entry::begun)).toList();
              for (int i = 1; i < inOrder.size(); i++) {
                assertThat(inOrder.get(i).begun())
                    .as("message %s", id)
                    .isGreaterThan(inOrder.get(i - 1).ended());
              }
            });
  }
}
