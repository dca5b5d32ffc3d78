package io.sqlstreams.internal.upkeep;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Partitions come and go under producers and consumers, and nothing is lost. The messages are two
 * hours old when they are written, so whatever the group has passed is over.
 */
@SqlStreamsTest
class UpkeepLoadIT {
  TestDatabase database;

  @Test
  void whatIsNotReadIsNeverDropped() throws Exception {
    run(60);
  }

  @Test
  @Tag("stress")
  void whatIsNotReadIsNeverDroppedForLong() throws Exception {
    run(3_000);
  }

  /** Case B25 in full: a reader stays open for a minute while everybody goes on. */
  @Test
  @Tag("stress")
  void b25_aReaderThatStaysOpenForAMinute() {
    TestStream stream =
        TestStream.register(
            database,
            StreamConfig.defaults().withPartitionSize(100).withRetention(Duration.ofHours(1)),
            GroupConfig.defaults());
    stream.execute(
        "ALTER TABLE {log} ALTER COLUMN created_at SET DEFAULT clock_timestamp() - INTERVAL '2 hours'");
    Keeper keeper = Keeper.of(stream);
    try (SqlStreams client = TestStream.client(database);
        Consumer consumer = Consumer.start(client, stream, message -> Outcome.done());
        NamedTransaction reader = stream.begin("reader")) {
      reader.runs("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      reader.number("SELECT count(*) FROM {log}");
      long end = System.nanoTime() + Duration.ofMinutes(1).toNanos();
      int produced = 0;
      while (System.nanoTime() < end) {
        produced +=
            client.stream(stream.name())
                .producer()
                .produceAll(Collections.nCopies(40, Outgoing.of(RawPayload.of("{}"))))
                .size();
        consumer.awaitReceived(produced);
        keeper.tries();
        assertThat(
                stream.number(
                    "SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '{log}'::regclass"
                        + " AND mode IN ('AccessShareLock', 'RowExclusiveLock')"))
            .as("nobody who reads or writes waits for the log")
            .isZero();
      }
      reader.commits();
      stream.awaitSettled();
    }
    keeper.tries();
    keeper.turn();
    assertThat(
            stream.number("SELECT count(*) FROM pg_inherits WHERE inhparent = '{log}'::regclass"))
        .isLessThan(6);
  }

  private void run(int batches) throws Exception {
    TestStream stream =
        TestStream.register(
            database,
            StreamConfig.defaults().withPartitionSize(100).withRetention(Duration.ofHours(1)),
            GroupConfig.defaults());
    stream.execute(
        "ALTER TABLE {log} ALTER COLUMN created_at SET DEFAULT clock_timestamp() - INTERVAL '2 hours'");
    ExecutorService threads = Executors.newFixedThreadPool(4);
    AtomicInteger producing = new AtomicInteger(2);
    Set<Long> produced = Collections.synchronizedSet(new HashSet<>());
    ConcurrentLinkedQueue<RuntimeException> errors = new ConcurrentLinkedQueue<>();
    List<Future<?>> all = new ArrayList<>();
    try (SqlStreams client = TestStream.client(database);
        Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      for (int p = 0; p < 2; p++) {
        all.add(
            threads.submit(
                () -> {
                  for (int i = 0; i < batches; i++) {
                    client.stream(stream.name())
                        .producer()
                        .produceAll(
                            Collections.nCopies(1 + i % 40, Outgoing.of(RawPayload.of("{}"))))
                        .stream()
                        .map(Produced::id)
                        .forEach(produced::add);
                    if (i % 10 == 0) {
                      // ids that never come, and others that come late
                      try (NamedTransaction writer = stream.begin("writer")) {
                        writer.inserts();
                        writer.rollsBack();
                      } catch (IllegalStateException e) {
                        // its id fell into a partition that is still to come
                      }
                    }
                  }
                  producing.decrementAndGet();
                  return null;
                }));
      }
      for (int j = 0; j < 2; j++) {
        Keeper keeper = Keeper.of(stream);
        all.add(
            threads.submit(
                () -> {
                  do {
                    // what is in its way, such as the other one, it leaves for the next turn
                    errors.addAll(keeper.tries().values());
                  } while (producing.get() > 0);
                  return null;
                }));
      }
      for (Future<?> one : all) {
        one.get();
      }
      stream.awaitSettled();
      assertThat(new HashSet<>(consumer.ids())).containsAll(produced);
      assertThat(
              stream.number(
                  "SELECT floor FROM {schema}.stream_upkeep WHERE stream_id = "
                      + stream.info().id()))
          .isPositive();
      Keeper last = Keeper.of(stream);
      last.tries();
      last.turn();
      assertThat(
              stream.number("SELECT count(*) FROM pg_inherits WHERE inhparent = '{log}'::regclass"))
          .isLessThan(8);
      assertThat(stream.rows("SELECT operation FROM {operations}")).isEmpty();
      assertThat(errors).allMatch(UpkeepLoadIT::isInTheWay);
    } finally {
      threads.shutdownNow();
    }
  }

  /** Two janitors may want the same partition. */
  private static boolean isInTheWay(RuntimeException e) {
    String message = String.valueOf(e.getMessage());
    return message.contains("gave way to another") || message.contains("is given up, but");
  }
}
