package io.sqlstreams.internal.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Template;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Processes that take, renew and remove the same workers, step by step. Each holds a statement open
 * that in truth takes milliseconds, and the others are to pass it without waiting.
 */
@SqlStreamsTest
class FleetStepsIT {
  TestDatabase database;

  @Test
  void twoClaimAtTheSameTime() throws SQLException {
    TestWorkers workers = TestWorkers.declare(database, 3);
    TestStream any = TestStream.register(database);
    try (NamedTransaction a = any.begin("A")) {
      looks(workers, a);
      assertThat(workers.claim(workers.roster())).as("B leaves to A what A is taking").isEmpty();
      a.commits();
    }
    assertThat(workers.claim(workers.roster())).isEmpty();
    assertThat(workers.instances()).isEqualTo(3);
  }

  @Test
  void whatOneGivesUpWhileItTakesTheOtherCanHave() throws SQLException {
    TestWorkers workers = TestWorkers.declare(database, 3);
    TestStream any = TestStream.register(database);
    try (NamedTransaction a = any.begin("A")) {
      looks(workers, a);
      a.rollsBack();
    }
    assertThat(workers.claim(workers.roster())).hasSize(3);
  }

  /**
   * Four take and give back the same workers as fast as they can. With one statement instead of two
   * commands a worker is taken twice: its snapshot can be older than its locks.
   */
  @Test
  void neverTwoOfOneWorkerHoweverTheyRace() throws Exception {
    race(250);
  }

  @Tag("stress")
  @Test
  void neverTwoOfOneWorkerHoweverLongTheyRace() throws Exception {
    race(20_000);
  }

  private void race(int rounds) throws InterruptedException, ExecutionException {
    TestWorkers workers = TestWorkers.declare(database, 8);
    // whoever would be the second of a worker is refused
    workers.execute(
        "CREATE UNIQUE INDEX IF NOT EXISTS one_at_a_time ON {s}.worker_instance (worker_config_id)");
    ExecutorService threads = Executors.newFixedThreadPool(4);
    try {
      List<Future<Integer>> all = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        all.add(
            threads.submit(
                () -> {
                  Roster roster = workers.roster();
                  int claimed = 0;
                  for (int round = 0; round < rounds; round++) {
                    List<HeldPost> posts = workers.claim(roster);
                    claimed += posts.size();
                    if (!posts.isEmpty()) {
                      roster.release(posts);
                    }
                  }
                  return claimed;
                }));
      }
      int claims = 0;
      for (Future<Integer> one : all) {
        claims += one.get();
      }
      assertThat(claims).isGreaterThan(8);
    } finally {
      threads.shutdownNow();
      workers.execute("DROP INDEX {s}.one_at_a_time");
    }
  }

  @Test
  void aRenewalThatIsUnderWayKeepsWhatHasExpired() throws SQLException {
    TestWorkers workers = TestWorkers.declare(database, 1);
    TestStream any = TestStream.register(database);
    List<HeldPost> mine = workers.claim(workers.roster());
    workers.expire();
    try (NamedTransaction a = any.begin("A")) {
      renews(workers, a, mine.get(0).token());
      assertThat(workers.claim(workers.roster())).as("B doesn't wait").isEmpty();
      a.commits();
    }
    assertThat(workers.claim(workers.roster())).isEmpty();
    assertThat(workers.roster().renew(mine)).isEmpty();
  }

  @Test
  void aRenewalPassesARemovalThatIsUnderWay() throws SQLException {
    TestWorkers workers = TestWorkers.declare(database, 1);
    TestStream any = TestStream.register(database);
    Roster a = workers.roster(Duration.ofMillis(1));
    List<HeldPost> mine = workers.claim(a);
    workers.expire();
    try (NamedTransaction b = any.begin("B")) {
      looks(workers, b);
      long before = System.nanoTime();
      assertThat(a.renew(mine)).as("not lost yet, for B can fail").isEmpty();
      assertThat(mine.get(0).isDueForRenewal(before)).as("and not renewed").isTrue();
      b.commits();
    }
    assertThat(a.renew(mine)).as("now it is").isEqualTo(mine);
    assertThat(workers.instances()).isEqualTo(1);
  }

  @Test
  void aRenewalThatComesTooLateTakesNothingFromTheNext() {
    TestWorkers workers = TestWorkers.declare(database, 2);
    Roster a = workers.roster();
    List<HeldPost> mine = workers.claim(a);
    workers.expire();
    Roster b = workers.roster();
    List<HeldPost> theirs = workers.claim(b);
    assertThat(theirs).hasSize(2);
    assertThat(a.renew(mine)).containsExactlyInAnyOrderElementsOf(mine);
    a.release(mine);
    assertThat(b.renew(theirs)).isEmpty();
    assertThat(workers.instances()).isEqualTo(2);
  }

  @Test
  void whatExpiredAndNobodyHasTakenIsSimplyRenewed() {
    TestWorkers workers = TestWorkers.declare(database, 1);
    Roster a = workers.roster();
    List<HeldPost> mine = workers.claim(a);
    workers.expire();
    assertThat(a.renew(mine)).isEmpty();
    assertThat(workers.claim(workers.roster())).isEmpty();
  }

  @Test
  void aFencedTransactionKeepsItsWorkerUntilItEnds() throws SQLException {
    TestWorkers workers = TestWorkers.declare(database, 1);
    TestStream any = TestStream.register(database);
    Roster a = workers.roster();
    List<HeldPost> mine = workers.claim(a);
    PostFence fence = new PostFence(workers.system());
    try (NamedTransaction turn = any.begin("turn")) {
      assertThat(fence.hold(turn.connection(), mine)).containsExactly(mine.get(0).worker());
      assertThat(a.renew(mine)).as("a renewal passes").isEmpty();
      assertThat(
              workers.number(
                  "SELECT count(*) FROM {s}.worker_instance_log WHERE worker_config_id IN ({w})"))
          .isEqualTo(2);
      workers.expire();
      assertThat(workers.claim(workers.roster())).as("a take-over doesn't").isEmpty();
      turn.commits();
    }
    assertThat(workers.claim(workers.roster())).hasSize(1);
    try (NamedTransaction late = any.begin("late")) {
      assertThat(fence.hold(late.connection(), mine)).as("the old token").isEmpty();
    }
  }

  @Test
  void aFenceOfWhatHasExpiredHoldsNothing() throws SQLException {
    TestWorkers workers = TestWorkers.declare(database, 1);
    TestStream any = TestStream.register(database);
    List<HeldPost> mine = workers.claim(workers.roster());
    workers.expire();
    try (NamedTransaction late = any.begin("late")) {
      assertThat(new PostFence(workers.system()).hold(late.connection(), mine)).isEmpty();
    }
  }

  @Test
  void aFrozenTransactionIsCutOffByTheServer() throws SQLException {
    TestWorkers workers = TestWorkers.declare(database, 1);
    List<HeldPost> mine = workers.claim(workers.roster());
    TestStream any = TestStream.register(database);
    try (Connection connection = any.unpooled()) {
      connection.setAutoCommit(false);
      assertThat(new PostFence(workers.system(), Duration.ofMillis(100)).hold(connection, mine))
          .hasSize(1);
      workers.expire();
      List<HeldPost> theirs = new ArrayList<>();
      Await.until(
          "the server cuts it off",
          () -> {
            theirs.addAll(workers.claim(workers.roster()));
            return !theirs.isEmpty();
          });
    }
  }

  @Test
  void aDestroyWaitsForATurnAndTheTurnNotForIt() throws Exception {
    TestStream stream = TestStream.register(database);
    Roster roster =
        new Roster(
            new Database(stream.dataSource(), database.schema()),
            Scope.system(database.schema()),
            Duration.ofMinutes(10));
    List<HeldPost> all = roster.look(List.of("stream_janitor"), List.of()).claimed();
    List<HeldPost> mine = all.stream().filter(post -> post.owner() == stream.info().id()).toList();
    PostFence fence = new PostFence(stream.scope());
    try (SqlStreams client = TestStream.client(database);
        NamedTransaction turn = stream.begin("turn")) {
      assertThat(fence.hold(turn.connection(), mine)).hasSize(1);
      CompletableFuture<Void> destroy =
          CompletableFuture.runAsync(() -> client.stream(stream.name()).destroy());
      stream.awaitWaiting("delete_stream_workers");
      turn.runs("TRUNCATE {log}");
      turn.commits();
      destroy.get();
      assertThat(roster.renew(mine)).as("it is gone").isEqualTo(mine);
      roster.release(all);
    }
    try (NamedTransaction late = stream.begin("late")) {
      assertThat(fence.hold(late.connection(), mine)).isEmpty();
    }
    assertThat(database.deadlocks()).isEmpty();
  }

  @Test
  void nobodyWaitsForADestroyThatIsUnderWay() throws SQLException {
    TestWorkers workers = TestWorkers.declare(database, 3);
    TestStream any = TestStream.register(database);
    Roster a = workers.roster();
    List<HeldPost> mine = workers.claim(a);
    HeldPost doomed = mine.get(0);
    try (NamedTransaction destroy = any.begin("destroy")) {
      destroy.runs("DELETE FROM {schema}.stream_config WHERE id = " + doomed.owner());
      assertThat(a.renew(mine)).isEmpty();
      a.release(mine);
      assertThat(workers.claim(workers.roster())).as("all but the doomed one").hasSize(2);
      new Declarations(workers.system()).ofAll(workers.sql());
      destroy.commits();
    }
    assertThat(a.renew(List.of(doomed))).containsExactly(doomed);
  }

  private static void looks(TestWorkers workers, NamedTransaction by) throws SQLException {
    try (Call call = template(RosterSql.LOOK, workers, by)) {
      call.setArray("names", "text", new Object[] {workers.name()})
          .setArray("shared", "bigint", new Object[0])
          .set("most", 1_000)
          .set("lease_us", 600_000_000L)
          .query();
    }
  }

  private static void renews(TestWorkers workers, NamedTransaction by, UUID token)
      throws SQLException {
    try (Call call = template(RosterSql.RENEW, workers, by)) {
      call.setArray("tokens", "uuid", new UUID[] {token})
          .setArray("attempts", "int", new int[] {0})
          .setArray("rests_us", "bigint", new long[] {0})
          .set("lease_us", 600_000_000L)
          .query();
    }
  }

  private static Call template(Template template, TestWorkers workers, NamedTransaction by)
      throws SQLException {
    return template.in(workers.system()).on(by.connection());
  }
}
