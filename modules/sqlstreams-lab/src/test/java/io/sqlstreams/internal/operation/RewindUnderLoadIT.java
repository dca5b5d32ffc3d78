package io.sqlstreams.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Outcome;
import io.sqlstreams.Rewind;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Writers;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A group is moved back again and again while it works in two processes' worth of clients. */
@SqlStreamsTest
class RewindUnderLoadIT {
  private static final int REWINDS = 8;

  TestDatabase database;

  /**
   * After each rewind every message above its place is handled again at least once, and {@code
   * committed} doesn't pass one that wasn't.
   */
  @Test
  void everythingAboveComesAgainAndCommittedPassesNothing() throws Exception {
    TestStream stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults()
                .withTimeout(Duration.ofMinutes(2)) // longer than any wait of this test
                .withRetry(
                    RetryPolicy.defaults()
                        .withMaxRetries(20)
                        .withInitialBackoff(Duration.ofMillis(20))
                        .withBackoff(Duration.ofMillis(20), 1)));
    long seed = System.nanoTime();
    Random random = new Random(seed);
    // when a handler last began with a message and was done with it, in microseconds
    Map<Long, Long> done = new ConcurrentHashMap<>();
    Held held = new Held();
    List<String> faults = new CopyOnWriteArrayList<>();
    AtomicBoolean working = new AtomicBoolean(true);
    try (SqlStreams one = TestStream.client(database);
        SqlStreams two = TestStream.client(database);
        Consumer first = start(one, stream, done, held);
        Consumer second = start(two, stream, done, held)) {
      Thread writing = new Thread(() -> write(stream, working));
      writing.start();
      for (int i = 0; i < REWINDS; i++) {
        long wanted = 400L * (i + 1);
        Await.until(
            "it has come far", () -> stream.number("SELECT claimed FROM {cursor}") >= wanted);
        long claimed = stream.number("SELECT claimed FROM {cursor}");
        long target = claimed - Math.min(claimed, 100 + random.nextInt(400));
        if (i == 0) {
          // the other rewinds may meet nothing under way
          target = Math.min(target, held.awaitMessage() - 1);
        }
        var group = (i % 2 == 0 ? one : two).stream(stream.name()).group("g");
        Rewind rewind = group.rewind(Start.after(target));
        held.release();
        // what was begun before the rewind must come again; server and test have one clock
        long since =
            stream.number(
                "SELECT (extract(epoch FROM max(performed_at)) * 1000000)::BIGINT FROM {operations}");
        if (i + 1 == REWINDS) {
          working.set(false);
          writing.join();
        }
        check(stream, rewind, since, done, faults, 20);
      }
      Await.until(
          "the group is done with everything",
          () ->
              stream.number("SELECT count(*) FROM {queue}") == 0
                  && stream.number("SELECT committed FROM {cursor}")
                      == stream.number("SELECT max(id) FROM {log}"));
      Await.until(
          "what was at work during the rewind is refused",
          () -> first.counters().leaseLost() + second.counters().leaseLost() > 0);
    }
    assertThat(faults).as("seed " + seed).isEmpty();
    assertThat(new TreeSet<>(done.keySet())).containsAll(stream.longs("SELECT id FROM {log}"));
    assertThat(stream.number("SELECT rewinds FROM {cursor}")).isEqualTo(REWINDS);
    assertThat(database.deadlocks()).isEmpty();
  }

  /** Looks at {@code committed} a few times, and at last until it is past the rewind. */
  private static void check(
      TestStream stream,
      Rewind rewind,
      long since,
      Map<Long, Long> done,
      List<String> faults,
      int looks) {
    List<Long> above =
        stream.longs(
            "SELECT id FROM {log} WHERE id > "
                + rewind.position()
                + " AND id <= "
                + rewind.claimedBefore()
                + " ORDER BY id");
    assertThat(rewind.messages()).isEqualTo(above.size());
    for (int look = 0; look < looks; look++) {
      require(stream.number("SELECT committed FROM {cursor}"), above, since, done, faults);
    }
    Await.until(
        "committed is past the rewind",
        () -> {
          long committed = stream.number("SELECT committed FROM {cursor}");
          require(committed, above, since, done, faults);
          return committed >= rewind.claimedBefore();
        });
  }

  /** Everything up to here was handled since. */
  private static void require(
      long committed, List<Long> above, long since, Map<Long, Long> done, List<String> faults) {
    for (long id : above) {
      if (id <= committed && done.getOrDefault(id, 0L) < since) {
        faults.add("committed is " + committed + ", and " + id + " wasn't handled again");
      }
    }
  }

  /** The first message that a handler is given; it is at work until it is released. */
  private static final class Held {
    private final CompletableFuture<Long> message = new CompletableFuture<>();
    private final CountDownLatch released = new CountDownLatch(1);

    void hold(long id) throws InterruptedException {
      if (message.complete(id)) {
        released.await();
      }
    }

    long awaitMessage() throws Exception {
      return message.get(60, TimeUnit.SECONDS);
    }

    void release() {
      released.countDown();
    }
  }

  private static Consumer start(
      SqlStreams client, TestStream stream, Map<Long, Long> done, Held held) {
    return Consumer.start(
        client,
        stream,
        message -> {
          long now = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
          long id = message.id();
          held.hold(id);
          // every 50th fails at first, each time that it comes
          if (id % 50 == 0 && message.attempt() == 0) {
            throw new IllegalStateException("not yet");
          }
          done.merge(id, now, Math::max);
          return Outcome.done();
        });
  }

  private static void write(TestStream stream, AtomicBoolean working) {
    try {
      while (working.get()) {
        new Writers(stream, 2, 100, 0.05).run();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
