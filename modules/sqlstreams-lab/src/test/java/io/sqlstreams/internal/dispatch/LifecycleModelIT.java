package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertAll;

import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Processes that handle messages by scripts while they are killed, frozen, stopped and robbed of
 * their leases, all by chance: in the end every message of every group is exactly where {@link
 * Lifecycle} says, by a way that it allows.
 *
 * <p>A failure names its seed; {@code -Dsqlstreams.model.seed=...} repeats that run alone, as far
 * as the machine lets it repeat, and {@code -Dsqlstreams.model.runs=...} sets the number of runs.
 */
@SqlStreamsTest
class LifecycleModelIT {
  private static final String SEED_PROPERTY = "sqlstreams.model.seed";
  private static final String RUNS_PROPERTY = "sqlstreams.model.runs";

  /** A run waits most of its time: for leases to end, and for processes to start. */
  private static final int AT_ONCE = 3;

  TestDatabase database;
  @TempDir Path directory;

  @Test
  void everyMessageEndsWhereTheModelSays() throws Exception {
    check(10);
  }

  @Tag("stress")
  @Test
  void everyMessageEndsWhereTheModelSaysInManyRuns() throws Exception {
    check(200);
  }

  private void check(int runs) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(AT_ONCE);
    try {
      List<Future<?>> running = new ArrayList<>();
      for (long seed : seeds(runs)) {
        running.add(threads.submit(() -> run(seed)));
      }
      assertAll(running.stream().map(run -> () -> await(run)));
    } finally {
      threads.shutdownNow();
    }
    assertThat(database.deadlocks()).isEmpty();
  }

  private static void await(Future<?> run) throws Throwable {
    try {
      run.get();
    } catch (ExecutionException e) {
      throw e.getCause();
    }
  }

  /** The last digit decides the kind of a run, so ten in a row have each kind. */
  private static List<Long> seeds(int runs) {
    Long wanted = Long.getLong(SEED_PROPERTY);
    if (wanted != null) {
      return List.of(wanted);
    }
    List<Long> seeds = new ArrayList<>();
    for (int i = 0; i < Integer.getInteger(RUNS_PROPERTY, runs); i++) {
      seeds.add(ThreadLocalRandom.current().nextLong(Long.MAX_VALUE / 10) * 10 + i % 10);
    }
    return seeds;
  }

  private void run(long seed) {
    Plan plan = Plan.of(seed);
    try {
      new LifecycleRun(database, plan, Files.createDirectories(directory.resolve("run-" + seed)))
          .run();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (Throwable e) {
      throw new AssertionError("-D%s=%d: %s%n%s".formatted(SEED_PROPERTY, seed, e, plan), e);
    }
  }
}
