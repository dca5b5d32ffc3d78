package io.sqlstreams.internal.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Worker;
import io.sqlstreams.test.PostgresExtension;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Three processes that share workers while they are killed, frozen, thawed and stopped at random
 * moments, against a history of everything that their workers did, by the database's clock.
 */
@ExtendWith(PostgresExtension.class)
class FleetHistoryIT {
  private static final int PROCESSES = 3;
  private static final int WORKERS = 6;
  private static final Duration LEASE = Duration.ofSeconds(3);

  /** For the look that finds what has expired, and for a machine that does other things too. */
  private static final Duration BOUND = Duration.ofSeconds(20);

  TestDatabase database;
  private TestWorkers workers;
  private final List<Worker> running = new ArrayList<>();
  private final List<Worker> frozen = new ArrayList<>();

  @Test
  void noWorkerIsDoneByTwoThroughKillsAndFreezes() {
    run(5);
  }

  @Tag("stress")
  @Test
  void noWorkerIsDoneByTwoThroughManyKillsAndFreezes() {
    run(Integer.getInteger("sqlstreams.fleet.blows", 150));
  }

  private void run(int blows) {
    long seed = Long.getLong("sqlstreams.fleet.seed", System.nanoTime());
    System.out.println("-Dsqlstreams.fleet.seed=" + seed);
    Random random = new Random(seed);
    workers = TestWorkers.declare(database, WORKERS);
    workers.execute(
        """
        CREATE TABLE {s}.turns (
          id BIGINT GENERATED ALWAYS AS IDENTITY, worker BIGINT, token UUID, process BIGINT,
          begun_at TIMESTAMPTZ, ended_at TIMESTAMPTZ)
        """);
    try {
      while (running.size() < PROCESSES) {
        start();
      }
      for (int i = 0; i < blows; i++) {
        awaitTurnsOfAll();
        // somewhere in a turn, or between two
        pause(random.nextInt(60));
        blow(random, i % 3);
      }
      frozen.forEach(Worker::thaw);
      running.addAll(frozen);
      frozen.clear();
      awaitTurnsOfAll();
      running.forEach(worker -> assertThat(worker.finish()).isEqualTo("stopped"));
      assertThat(workers.instances()).as("all was given back").isZero();
    } finally {
      frozen.forEach(Worker::close);
      running.forEach(Worker::close);
    }
    assertNeverTwo();
    assertNoOneComesBack();
    assertTakenOverInTime();
  }

  /** A kill, a freeze of one, or a stop in order; each time with somebody new in its place. */
  private void blow(Random random, int kind) {
    // the one that works, if there is one, and not one of those that merely look
    long busy = workers.number("SELECT process FROM {s}.turns ORDER BY id DESC LIMIT 1");
    Worker victim =
        running.stream()
            .filter(worker -> worker.pid() == busy)
            .findFirst()
            .orElse(running.get(random.nextInt(running.size())));
    running.remove(victim);
    switch (kind) {
      case 0 -> victim.kill();
      case 1 -> {
        frozen.forEach(Worker::thaw);
        running.addAll(frozen);
        frozen.clear();
        victim.freeze();
        frozen.add(victim);
      }
      default -> {
        victim.finish();
        assertThat(
                workers.number(
                    "SELECT count(*) FROM {s}.worker_instance WHERE token IN (SELECT token FROM {s}.turns WHERE process = "
                        + victim.pid()
                        + ")"))
            .as("a stop gives all back")
            .isZero();
      }
    }
    while (running.size() < PROCESSES - frozen.size()) {
      start();
    }
  }

  private void start() {
    running.add(
        Worker.startFleet(
            List.of(
                database.jdbcUrl(),
                database.schema(),
                workers.name(),
                Long.toString(LEASE.toMillis()))));
  }

  /** Every worker has had a turn since now. */
  private void awaitTurnsOfAll() {
    long now = workers.number("SELECT coalesce(max(id), 0) FROM {s}.turns");
    Await.until(
        "a turn of each worker",
        () ->
            workers.number("SELECT count(DISTINCT worker) FROM {s}.turns WHERE id > " + now)
                == WORKERS);
  }

  /** Two turns of one worker overlap. */
  private void assertNeverTwo() {
    assertThat(
            workers.rows(
                """
                SELECT one.worker, one.process, one.begun_at, one.ended_at, other.process, other.begun_at, other.ended_at
                FROM {s}.turns AS one
                JOIN {s}.turns AS other
                  ON other.worker = one.worker
                  AND other.id > one.id
                  AND other.begun_at < one.ended_at
                  AND one.begun_at < other.ended_at
                """))
        .as("turns of one worker at the same time")
        .isEmpty();
    assertThat(workers.number("SELECT count(*) FROM {s}.turns WHERE ended_at IS NULL")).isZero();
  }

  /** Once somebody else has a worker, the old token does nothing more. */
  private void assertNoOneComesBack() {
    assertThat(
            workers.rows(
                """
                SELECT earlier.worker, earlier.token, later.token
                FROM (SELECT worker, token, min(begun_at) AS first, max(ended_at) AS last FROM {s}.turns GROUP BY worker, token) AS earlier
                JOIN (SELECT worker, token, min(begun_at) AS first, max(ended_at) AS last FROM {s}.turns GROUP BY worker, token) AS later
                  ON later.worker = earlier.worker
                  AND later.first > earlier.first
                  AND later.first < earlier.last
                """))
        .as("a holder that worked on after the next one had begun")
        .isEmpty();
  }

  /** By the log: the next holder came no later than a look after the lease of the one before. */
  private void assertTakenOverInTime() {
    assertThat(
            workers.rows(
                """
                SELECT held.worker_config_id, held.until, held.next_at
                FROM (
                  SELECT log.worker_config_id,
                         max(log.expires_at) AS until,
                         lead(min(log.instance_created_at)) OVER (
                           PARTITION BY log.worker_config_id ORDER BY min(log.id)) AS next_at
                  FROM {s}.worker_instance_log AS log
                  WHERE log.worker_config_id IN ({w})
                  GROUP BY log.worker_config_id, log.worker_instance_id
                ) AS held
                WHERE held.next_at > held.until + INTERVAL '%d seconds'
                """
                    .formatted(BOUND.toSeconds())))
        .as("workers that nobody had for too long")
        .isEmpty();
  }

  private static void pause(int millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    while (System.nanoTime() < end) {
      Thread.onSpinWait();
    }
  }
}
