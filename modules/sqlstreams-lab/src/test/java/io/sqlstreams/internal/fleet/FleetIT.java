package io.sqlstreams.internal.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.Await;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Managers of this process and what they do with their workers. */
@SqlStreamsTest
class FleetIT {
  private static final Duration SOON = Duration.ofMillis(5);

  TestDatabase database;
  private final List<FleetManager> started = new ArrayList<>();
  private final CountDownLatch over = new CountDownLatch(1);

  @AfterEach
  void stopAll() {
    over.countDown();
    started.forEach(FleetManager::stop);
  }

  @ParameterizedTest
  @ValueSource(ints = {10, 500})
  void oneStatementClaimsAndOneRenewsAndOneReleasesWhateverTheNumber(int number) {
    TestWorkers workers = TestWorkers.declare(database, number);
    CountingSource source = new CountingSource(workers.dataSource());
    Roster roster =
        new Roster(
            new Database(source.dataSource(), database.schema()),
            workers.system(),
            TestWorkers.CALM.lease());
    List<HeldPost> mine = workers.claim(roster);
    assertThat(mine).hasSize(number);
    assertThat(roster.renew(mine)).isEmpty();
    assertThat(workers.look(roster, mine).claimed()).isEmpty();
    roster.release(mine);
    assertThat(source.statements())
        .containsExactly("claim_workers", "renew_workers", "claim_workers", "release_workers");
    assertThat(workers.instances()).isZero();
    assertThat(
            workers.rows(
                "SELECT count(*), count(DISTINCT token) FROM {s}.worker_instance_log WHERE worker_config_id IN ({w})"))
        .as("a row for each claim and each renewal")
        .containsExactly(2 * number + "|" + number);
  }

  /** The same seen from outside: what a manager sends while nothing happens. */
  @ParameterizedTest
  @ValueSource(ints = {10, 500})
  void anIdleManagerSendsOneStatementForEachLookAndEachRenewal(int number) {
    TestWorkers workers = TestWorkers.declare(database, number);
    CountingSource source = new CountingSource(workers.dataSource());
    TestDuty duty = new TestDuty(workers.name(), Duration.ofHours(1), post -> {});
    FleetTiming timing = timing(Duration.ofMinutes(10), Duration.ofMillis(100));
    FleetManager manager =
        new FleetManager(
            new Database(source.dataSource(), database.schema()),
            workers.system(),
            List.of(duty),
            timing);
    started.add(manager);
    manager.start();
    Await.until(
        "five renewals",
        () -> source.statements().stream().filter("renew_workers"::equals).count() >= 5);
    List<String> sent = List.copyOf(source.statements());
    assertThat(duty.turns()).hasSize(1).allSatisfy(turn -> assertThat(turn).hasSize(number));
    assertThat(Set.copyOf(sent))
        .containsExactlyInAnyOrder(
            "declare_workers", "claim_workers", "renew_workers", "sweep_worker_instance_log");
    long renewals = sent.stream().filter("renew_workers"::equals).count();
    long looks = sent.stream().filter("claim_workers"::equals).count();
    assertThat(sent).hasSize((int) (renewals + looks + 2));
    assertThat(renewals).as("no more often than looks").isLessThanOrEqualTo(looks);
  }

  @Test
  void aWorkerWithoutALimitRunsOnceInEachProcess() {
    TestWorkers workers = TestWorkers.declare(database, 2, -1);
    Roster a = workers.roster();
    Roster b = workers.roster();
    List<HeldPost> ofA = workers.claim(a);
    List<HeldPost> ofB = workers.claim(b);
    assertThat(ofA).hasSize(2);
    assertThat(ofB).hasSize(2);
    assertThat(workers.look(a, ofA).claimed()).isEmpty();
    assertThat(workers.look(b, ofB).claimed()).isEmpty();
    workers.setTarget(1);
    Roster.Found found = workers.look(a, ofA);
    assertThat(found.ended())
        .as("the first stays")
        .doesNotContainAnyElementsOf(ofA.stream().map(HeldPost::instance).toList());
    assertThat(workers.look(b, ofB).ended())
        .containsAll(ofB.stream().map(HeldPost::instance).toList());
  }

  @Test
  void aManagerDoesNotTakeASecondOfAWorkerThatIsForMoreNow() {
    TestWorkers workers = TestWorkers.declare(database, 3);
    TestDuty duty = duty(workers, post -> {});
    FleetManager manager = start(workers, duty, TestWorkers.CALM);
    duty.awaitTurns(1);
    workers.setTarget(2);
    long looks = manager.looks();
    Await.until("it has looked", () -> manager.looks() >= looks + 5);
    assertThat(workers.instances()).isEqualTo(3);
    assertThat(
            workers.number(
                "SELECT count(*) FROM {s}.worker_instance_log WHERE worker_config_id IN ({w})"))
        .as("it has tried once")
        .isEqualTo(6);
    assertThat(duty.turns()).allSatisfy(turn -> assertThat(turn).hasSize(3));
  }

  @Test
  void moreThanOneStatementCanTakeAreTakenOneBatchAfterTheOther() {
    TestWorkers workers = TestWorkers.declare(database, Roster.CLAIM + 10);
    Roster roster = workers.roster();
    List<HeldPost> first = workers.claim(roster);
    assertThat(first).hasSize(Roster.CLAIM);
    assertThat(workers.claim(roster)).hasSize(10);
    roster.release(first);
    workers.expire();
    TestDuty duty = new TestDuty(workers.name(), Duration.ofHours(1), post -> {});
    FleetTiming calm = TestWorkers.CALM;
    start(
        workers,
        duty,
        new FleetTiming(
            calm.lease(),
            calm.renewal(),
            Duration.ofMinutes(5),
            calm.firstBackoff(),
            calm.longestBackoff(),
            calm.stopWait(),
            calm.logRetention()));
    Await.until(
        "all are taken without waiting for the next look",
        () -> workers.instances() == Roster.CLAIM + 10);
  }

  @Test
  void aWorkerForTwoRunsInTwoProcesses() {
    TestWorkers workers = TestWorkers.declare(database, 1, 2);
    Roster roster = workers.roster();
    List<HeldPost> first = workers.claim(roster);
    assertThat(workers.look(roster, first).claimed()).as("not twice in one").isEmpty();
    assertThat(workers.claim(roster)).hasSize(1);
    assertThat(workers.claim(roster)).as("no third").isEmpty();
  }

  @Test
  void aSuspendedWorkerIsNotTakenAndAProcessTakesOnlyWhatItKnows() {
    TestWorkers suspended = TestWorkers.declare(database, 1, 0);
    TestWorkers unknown = TestWorkers.declare(database, 1);
    assertThat(suspended.claim(suspended.roster())).isEmpty();
    assertThat(suspended.claim(unknown.roster())).isEmpty();
    assertThat(unknown.instances()).isZero();
  }

  @Test
  void instancesOfASuspendedWorkerAreRemovedOnceTheyHaveExpired() {
    TestWorkers workers = TestWorkers.declare(database, 3);
    workers.claim(workers.roster());
    workers.setTarget(0);
    assertThat(workers.claim(workers.roster())).isEmpty();
    assertThat(workers.instances()).isEqualTo(3);
    workers.expire();
    assertThat(workers.claim(workers.roster())).isEmpty();
    assertThat(workers.instances()).isZero();
  }

  @Test
  void aStopHandsOverAtOnce() {
    TestWorkers workers = TestWorkers.declare(database, 5);
    TestDuty first = duty(workers, post -> {});
    FleetManager a = start(workers, first, TestWorkers.CALM);
    first.awaitTurns(1);
    TestDuty second = duty(workers, post -> {});
    start(workers, second, TestWorkers.CALM);
    a.stop();
    // with leases of ten minutes
    second.awaitTurns(1);
    assertThat(workers.instances()).isEqualTo(5);
    int turns = first.turns().size();
    second.awaitTurns(second.turns().size() + 3);
    assertThat(first.turns()).hasSize(turns);
    assertThat(first.turns().get(0)).noneMatch(Post::isHeld);
  }

  @Test
  void aStopInterruptsTheTurnThatRuns() throws InterruptedException {
    TestWorkers workers = TestWorkers.declare(database, 1);
    CountDownLatch interrupted = new CountDownLatch(1);
    TestDuty duty =
        duty(
            workers,
            post -> {
              try {
                over.await();
              } catch (InterruptedException e) {
                interrupted.countDown();
                throw e;
              }
            });
    FleetManager manager = start(workers, duty, TestWorkers.CALM);
    duty.awaitTurns(1);
    manager.stop();
    assertThat(interrupted.await(0, TimeUnit.SECONDS)).isTrue();
    assertThat(workers.instances()).as("given back, and not for a failure").isZero();
  }

  @Test
  void aStopDoesNotGiveBackWhatATurnStillWorksOn() {
    TestWorkers stubborn = TestWorkers.declare(database, 1);
    TestWorkers others = TestWorkers.declare(database, 2);
    Semaphore release = new Semaphore(0);
    TestDuty hanging = duty(stubborn, post -> release.acquireUninterruptibly());
    TestDuty other = duty(others, post -> {});
    FleetTiming timing = TestWorkers.CALM;
    FleetManager manager =
        new FleetManager(
            stubborn.sql(),
            stubborn.system(),
            List.of(hanging, other),
            new FleetTiming(
                timing.lease(),
                timing.renewal(),
                timing.look(),
                timing.firstBackoff(),
                timing.longestBackoff(),
                Duration.ofMillis(50),
                timing.logRetention()));
    manager.start();
    hanging.awaitTurns(1);
    other.awaitTurns(1);
    manager.stop();
    assertThat(others.instances()).isZero();
    assertThat(stubborn.instances()).as("it may still be at it").isEqualTo(1);
    assertThat(hanging.turns().get(0).get(0).isHeld()).isFalse();
    assertThat(stubborn.claim(stubborn.roster())).isEmpty();
    release.release();
  }

  @Test
  void aStopFromATurnOnlyAsks() {
    TestWorkers workers = TestWorkers.declare(database, 1);
    List<FleetManager> itself = new ArrayList<>();
    TestDuty duty = duty(workers, post -> itself.get(0).stop());
    FleetManager manager =
        new FleetManager(workers.sql(), workers.system(), List.of(duty), TestWorkers.CALM);
    itself.add(manager);
    manager.start();
    Await.until("it has stopped", () -> manager.stopped().isDone());
    assertThat(workers.instances()).isZero();
  }

  @Test
  void aStopBeforeTheStartIsFineAndStartsNothing() {
    TestWorkers workers = TestWorkers.declare(database, 1);
    FleetManager manager =
        new FleetManager(
            workers.sql(), workers.system(), List.of(duty(workers, post -> {})), TestWorkers.CALM);
    manager.stop();
    manager.start();
    manager.stop();
    assertThat(workers.instances()).isZero();
  }

  @Test
  void aFailingWorkerRestsAndTheOthersDoNot() {
    TestWorkers workers = TestWorkers.declare(database, 3);
    long bad = workers.number("SELECT min(id) FROM ({w}) AS worker");
    TestDuty duty =
        duty(
            workers,
            post -> {
              if (post.worker() == bad) {
                throw new InvalidInputException("test", "on purpose");
              }
            });
    start(workers, duty, TestWorkers.CALM);
    duty.awaitTurns(4);
    assertThat(duty.turns().get(0)).hasSize(3);
    assertThat(duty.turns().subList(1, 4))
        .allSatisfy(turn -> assertThat(turn).hasSize(2).noneMatch(post -> post.worker() == bad));
    Await.until("it is recorded", () -> attempts(workers, bad) == 1);
    assertThat(
            workers.number(
                "SELECT sum(attempts) FROM {s}.worker_instance WHERE worker_config_id IN ({w})"))
        .isEqualTo(1);
  }

  @Test
  void theRestOfAFailingWorkerOutlastsItsProcess() {
    TestWorkers workers = TestWorkers.declare(database, 2);
    TestDuty failing =
        duty(
            workers,
            post -> {
              throw new InvalidInputException("test", "on purpose");
            });
    FleetManager a = start(workers, failing, TestWorkers.CALM);
    Await.until(
        "it is recorded",
        () ->
            workers.number(
                    "SELECT coalesce(sum(attempts), 0) FROM {s}.worker_instance WHERE worker_config_id IN ({w})")
                == 2);
    a.stop();
    assertThat(workers.instances()).as("they rest, with nobody").isEqualTo(2);
    TestDuty second = duty(workers, post -> {});
    FleetManager b = start(workers, second, TestWorkers.CALM);
    Await.until("b has looked", () -> b.looks() >= 3);
    assertThat(second.turns()).isEmpty();
    workers.expire();
    second.awaitTurns(1);
    assertThat(
            workers.rows(
                "SELECT attempts FROM {s}.worker_instance_log WHERE worker_config_id IN ({w})"
                    + " ORDER BY id DESC LIMIT 2"))
        .as("the next holder knows, or has already done well")
        .isSubsetOf("1", "0");
    Await.until(
        "success ends the streak",
        () ->
            workers.number(
                    "SELECT sum(attempts) FROM {s}.worker_instance WHERE worker_config_id IN ({w})")
                == 0);
  }

  @Test
  void aStreakGrowsFromTurnToTurn() {
    TestWorkers workers = TestWorkers.declare(database, 1);
    TestDuty duty =
        duty(
            workers,
            post -> {
              throw new InvalidInputException("test", "on purpose");
            });
    FleetTiming calm = TestWorkers.CALM;
    start(
        workers,
        duty,
        new FleetTiming(
            calm.lease(),
            calm.renewal(),
            calm.look(),
            Duration.ofMillis(1),
            Duration.ofMillis(4),
            calm.stopWait(),
            calm.logRetention()));
    long id = workers.number("{w}");
    Await.until("five in a row", () -> attempts(workers, id) >= 5);
  }

  @Test
  void anErrorOfATurnIsTheFailureOfAllAndTheThreadGoesOn() {
    TestWorkers workers = TestWorkers.declare(database, 2);
    AtomicBoolean broken = new AtomicBoolean(true);
    TestDuty duty =
        duty(
            workers,
            post -> {
              if (broken.get()) {
                throw new StackOverflowError("on purpose");
              }
            });
    FleetTiming calm = TestWorkers.CALM;
    start(
        workers,
        duty,
        new FleetTiming(
            calm.lease(),
            calm.renewal(),
            calm.look(),
            Duration.ofMillis(1),
            Duration.ofMillis(4),
            calm.stopWait(),
            calm.logRetention()));
    duty.awaitTurns(3);
    broken.set(false);
    Await.until(
        "both did well",
        () ->
            workers.number(
                    "SELECT count(*) FROM {s}.worker_instance WHERE attempts = 0 AND worker_config_id IN ({w})")
                == 2);
  }

  @Test
  void aWorkerThatIsSuspendedDuringATurnIsGivenBackAfterIt() {
    TestWorkers workers = TestWorkers.declare(database, 1);
    Semaphore goOn = new Semaphore(0);
    TestDuty duty = duty(workers, post -> goOn.acquire());
    start(workers, duty, TestWorkers.CALM);
    duty.awaitTurns(1);
    Post post = duty.turns().get(0).get(0);
    assertThat(post.isHeld()).isTrue();
    workers.setTarget(0);
    Await.until("the turn can see it", () -> !post.isHeld());
    assertThat(workers.instances()).as("still at it").isEqualTo(1);
    workers.setTarget(1);
    assertThat(workers.claim(workers.roster())).as("so nobody else begins").isEmpty();
    goOn.release();
    Await.until("a new instance", () -> duty.turns().size() == 2);
    assertThat(duty.turns().get(1).get(0).token()).isNotEqualTo(post.token());
    goOn.release(1_000_000);
  }

  @Test
  void aWorkerThatIsTakenAwayIsLetGo() {
    TestWorkers workers = TestWorkers.declare(database, 1);
    TestDuty duty = duty(workers, post -> over.await());
    start(workers, duty, timing(Duration.ofMinutes(10), Duration.ofMillis(20)));
    duty.awaitTurns(1);
    workers.execute("DELETE FROM {s}.worker_config WHERE id IN ({w})");
    Await.until("it sees it", () -> !duty.turns().get(0).get(0).isHeld());
  }

  @Test
  void aTurnThatTakesLongDoesNotStopTheRenewals() {
    TestWorkers slow = TestWorkers.declare(database, 1);
    TestWorkers quick = TestWorkers.declare(database, 1);
    TestDuty hanging = duty(slow, post -> over.await());
    TestDuty other = duty(quick, post -> {});
    FleetManager manager =
        new FleetManager(
            slow.sql(),
            slow.system(),
            List.of(hanging, other),
            timing(Duration.ofMinutes(10), Duration.ofMillis(20)));
    started.add(manager);
    manager.start();
    hanging.awaitTurns(1);
    Await.until(
        "five renewals of the worker at work",
        () ->
            slow.number(
                    "SELECT count(*) FROM {s}.worker_instance_log WHERE worker_config_id IN ({w})")
                >= 6);
    other.awaitTurns(3);
    assertThat(hanging.turns()).hasSize(1);
    assertThat(hanging.turns().get(0).get(0).isHeld()).isTrue();
  }

  @Test
  void theLogIsSweptInBoundedBatches() {
    TestWorkers workers = TestWorkers.declare(database, 1);
    String insert =
        """
        INSERT INTO {s}.worker_instance_log (worker_config_id, worker_instance_id, token, attempts, instance_created_at, expires_at)
        SELECT id, 0, gen_random_uuid(), 0, now(), clock_timestamp() - INTERVAL '%s' FROM ({w}) AS worker, generate_series(1, %d)
        """;
    workers.execute(insert.formatted("24 hours 1 second", Roster.SWEEP + 10));
    workers.execute(insert.formatted("23 hours 50 minutes", 5));
    Roster roster = workers.roster();
    Duration day = FleetTiming.DEFAULT.logRetention();
    assertThat(roster.sweep(day)).isEqualTo(Roster.SWEEP);
    assertThat(roster.sweep(day)).isBetween(10L, 1_000L);
    assertThat(roster.sweep(day)).isZero();
    assertThat(
            workers.number(
                "SELECT count(*) FROM {s}.worker_instance_log WHERE worker_config_id IN ({w})"))
        .isEqualTo(5);
  }

  @Test
  void workersThatAreTakenOneByOneEndUpInOneTurn() {
    TestWorkers workers = TestWorkers.declare(database, 4, 0);
    TestDuty duty = new TestDuty(workers.name(), Duration.ofMillis(200), post -> {});
    start(workers, duty, TestWorkers.CALM);
    Set<Long> resumed = new HashSet<>();
    for (String id : workers.rows("{w}")) {
      workers.execute("UPDATE {s}.worker_config SET target_instances = 1 WHERE id = " + id);
      resumed.add(Long.valueOf(id));
      Await.until(
          "it had a turn",
          () ->
              duty.turns().stream()
                  .anyMatch(turn -> turn.stream().anyMatch(p -> resumed.contains(p.worker()))));
    }
    Await.until("a turn of all", () -> duty.turns().stream().anyMatch(turn -> turn.size() == 4));
  }

  private static long attempts(TestWorkers workers, long worker) {
    return workers.number(
        "SELECT coalesce(max(attempts), 0) FROM {s}.worker_instance WHERE worker_config_id = "
            + worker);
  }

  private static TestDuty duty(TestWorkers workers, TestDuty.Work work) {
    return new TestDuty(workers.name(), SOON, work);
  }

  private FleetManager start(TestWorkers workers, Duty duty, FleetTiming timing) {
    FleetManager manager = new FleetManager(workers.sql(), workers.system(), List.of(duty), timing);
    started.add(manager);
    manager.start();
    return manager;
  }

  private static FleetTiming timing(Duration lease, Duration renewal) {
    FleetTiming calm = TestWorkers.CALM;
    return new FleetTiming(
        lease,
        renewal,
        calm.look(),
        calm.firstBackoff(),
        calm.longestBackoff(),
        calm.stopWait(),
        calm.logRetention());
  }
}
