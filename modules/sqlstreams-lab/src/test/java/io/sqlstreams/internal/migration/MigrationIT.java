package io.sqlstreams.internal.migration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.sqlstreams.MigrationStep;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.TablesVersion;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Migration;
import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.error.VersionMismatchException;
import io.sqlstreams.internal.schema.PatientTransaction.Patience;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.lab.Await;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import io.sqlstreams.test.TestPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Versions of the tables: who may work on which, and the way between them. */
@SqlStreamsTest
class MigrationIT {
  private static final Steps LATER = LaterBuild.steps(1);

  private TestDatabase database;
  private SqlStreams old;
  private SqlStreams later;

  @BeforeEach
  void install() {
    // the versions are those of a whole installation, so each test has its own
    database = TestPostgres.get().newDatabase("migration");
    old = LaterBuild.client(database, Steps.ofThisBuild());
    later = LaterBuild.client(database, LATER);
    old.stream("a").register();
    old.stream("b").register();
  }

  @AfterEach
  void drop() {
    old.close();
    later.close();
    database.dropSchema();
  }

  @Test
  void thereAndBack() {
    assertThat(later.system().migrations())
        .extracting(TablesVersion::scope, TablesVersion::stream, TablesVersion::state)
        .containsExactly(
            tuple(MigrationScope.SYSTEM, null, TablesVersion.State.OLDER),
            tuple(MigrationScope.STREAM, "a", TablesVersion.State.OLDER),
            tuple(MigrationScope.STREAM, "b", TablesVersion.State.OLDER));
    assertThat(later.system().migrate(Migration.up()))
        .containsExactly(
            new MigrationStep(MigrationScope.SYSTEM, null, 2, false),
            new MigrationStep(MigrationScope.STREAM, "a", 2, false),
            new MigrationStep(MigrationScope.STREAM, "b", 2, false));
    assertThat(later.system().migrate(Migration.up())).isEmpty();
    assertThat(states(later)).containsOnly(TablesVersion.State.CURRENT);
    assertThat(states(old)).containsOnly(TablesVersion.State.NEWER);
    assertThat(later.system().get().orElseThrow().version()).isEqualTo(2);

    assertThat(later.system().migrate(Migration.downTo(MigrationScope.STREAM, 1)))
        .extracting(MigrationStep::stream, MigrationStep::down)
        .containsExactly(tuple("a", true), tuple("b", true));
    assertThat(later.system().migrate(Migration.downTo(MigrationScope.SYSTEM, 1))).hasSize(1);
    assertThat(later.system().migrate(Migration.downTo(MigrationScope.SYSTEM, 1))).isEmpty();
    assertThat(states(old)).containsOnly(TablesVersion.State.CURRENT);
    assertThat(later.system().migrate(Migration.up())).hasSize(3);
    assertThat(number("SELECT count(*) FROM {s}.migration_log WHERE status = 'reverted'"))
        .isEqualTo(3);
  }

  @Test
  void newTablesAreLikeMigratedOnes() {
    later.system().migrate(Migration.up());
    later.stream("new").register();
    assertThat(columns(3)).isEqualTo(columns(1)).contains("message_log_# added text");
    assertThat(states(later)).containsOnly(TablesVersion.State.CURRENT);
    TestDatabase other = TestPostgres.get().newDatabase("migration");
    try (SqlStreams fresh = LaterBuild.client(other, LATER)) {
      fresh.stream("a").register();
      assertThat(states(fresh)).hasSize(2).containsOnly(TablesVersion.State.CURRENT);
    } finally {
      other.dropSchema();
    }
  }

  @Test
  void aStreamOfAnOldBuildIsMigratedWithTheNextCall() {
    later.system().migrate(Migration.up());
    old.stream("c").register();
    assertRefused(later.stream("c").producer()::produce, ErrorCode.MIGRATION_NEEDED);
    assertThat(later.system().migrate(Migration.up()))
        .containsExactly(new MigrationStep(MigrationScope.STREAM, "c", 2, false));
    later.stream("c").producer().produce(raw());
  }

  // ---- the gate

  @Test
  void aBuildRefusesTablesThatAreOlder() {
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> later.system().register(),
            () -> later.stream("a").register(),
            () -> later.stream("new").register(),
            () -> later.streams(),
            () -> later.stream("a").producer().produce(raw()),
            () -> later.inTransaction(c -> later.stream("a").producer().in(c).produce(raw())),
            () -> later.stream("a").group("g").register(),
            () -> later.stream("a").group("g").consume(message -> Outcome.done()))) {
      VersionMismatchException refused = catchThrowableOfType(VersionMismatchException.class, call);
      assertThat(refused.code()).isEqualTo(ErrorCode.MIGRATION_NEEDED);
      assertThat(refused)
          .hasMessageContaining("at version 1, this build needs 2")
          .hasMessageContaining("sqlstreams migrate up")
          .hasMessageContaining("installation in schema");
    }
    later.system().migrate(Migration.upTo(MigrationScope.SYSTEM, 2));
    assertThatThrownBy(() -> later.stream("a").register())
        .isInstanceOf(VersionMismatchException.class)
        .hasMessageContaining("stream \"a\"");
    assertThat(old.streams()).hasSize(2);
  }

  /** Nothing is read before that may not be there yet. */
  @Test
  void aBuildRefusesTablesThatLackWhatItReads() {
    execute("ALTER TABLE {s}.stream_config DROP COLUMN tombstone_ttl_ns");
    assertRefused(later.stream("a").producer()::produce, ErrorCode.MIGRATION_NEEDED);
  }

  @Test
  void aBuildRefusesTablesThatAreTooNew() {
    try (SqlStreams breaking = LaterBuild.client(database, LaterBuild.steps(2))) {
      breaking.system().migrate(Migration.upTo(MigrationScope.STREAM, 2));
      VersionMismatchException refused =
          catchThrowableOfType(
              VersionMismatchException.class, () -> old.stream("a").producer().produce(raw()));
      assertThat(refused.code()).isEqualTo(ErrorCode.BUILD_TOO_OLD);
      assertThat(refused)
          .hasMessageContaining(
              "the tables of stream \"a\" are at version 2, which only builds that know version 2")
          .hasMessageContaining("use a newer release");
      assertThat(states(old))
          .containsExactly(
              TablesVersion.State.CURRENT,
              TablesVersion.State.TOO_NEW,
              TablesVersion.State.TOO_NEW);
      breaking.system().migrate(Migration.upTo(MigrationScope.SYSTEM, 2));
      assertThatThrownBy(() -> LaterBuild.client(database, Steps.ofThisBuild()).system().register())
          .isInstanceOf(VersionMismatchException.class)
          .hasMessageContaining("installation in schema");
      // nobody goes down from what it doesn't know
      assertThatThrownBy(() -> old.system().migrate(Migration.downTo(MigrationScope.STREAM, 1)))
          .isInstanceOf(VersionMismatchException.class);
    }
  }

  /** What passed once is remembered: no message costs a look at the versions. */
  @Test
  void theVersionIsReadOnceAndNotForEachMessage() {
    var producer = old.stream("a").producer();
    producer.produce(raw());
    execute("UPDATE {s}.migration_log SET version = 7, min_compatible_version = 7");
    producer.produce(raw());
    old.stream("a").producer().produce(raw());
    try (SqlStreams another = LaterBuild.client(database, Steps.ofThisBuild())) {
      assertRefused(another.stream("a").producer()::produce, ErrorCode.BUILD_TOO_OLD);
    }
  }

  @Test
  void anUnknownVersionIsRefusedWithoutEffect() {
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            () -> later.system().migrate(Migration.upTo(MigrationScope.STREAM, 3)),
            () -> later.system().migrationSql(Migration.upTo(MigrationScope.SYSTEM, 3)),
            () -> later.system().migrate(Migration.downTo(MigrationScope.STREAM, 9)),
            () -> Migration.downTo(MigrationScope.STREAM, 0),
            () -> Migration.upTo(MigrationScope.STREAM, -1),
            () -> new Migration(null, 3, false))) {
      assertThatThrownBy(call).isInstanceOf(InvalidInputException.class);
    }
    assertThat(number("SELECT count(*) FROM {s}.migration_log")).isEqualTo(3);
    assertThat(states(old)).containsOnly(TablesVersion.State.CURRENT);
  }

  // ---- by hand

  @Test
  void whatIsPrintedDoesTheSameByHand() throws SQLException {
    List<String> scripts = later.system().migrationSql(Migration.up());
    assertThat(scripts).hasSize(3);
    assertThat(states(old)).containsOnly(TablesVersion.State.CURRENT);
    for (String script : scripts) {
      execute(script);
    }
    assertThat(states(later)).containsOnly(TablesVersion.State.CURRENT);
    assertThat(later.system().migrate(Migration.up())).isEmpty();
    assertThat(later.system().migrationSql(Migration.up())).isEmpty();
    // a second time it stops before it changes anything
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      assertThatThrownBy(() -> statement.execute(scripts.get(1)))
          .hasMessageContaining("not at version 1 any more");
    }
    for (String script : later.system().migrationSql(Migration.downTo(MigrationScope.STREAM, 1))) {
      execute(script);
    }
    assertThat(columns(1)).doesNotContain("message_log_# added text");
  }

  @Test
  void anInstallationIsMadeByHand() {
    TestDatabase other = TestPostgres.get().newDatabase("migration");
    try (SqlStreams client = LaterBuild.client(other, LATER)) {
      for (String script : client.system().migrationSql(Migration.up())) {
        execute(script);
      }
      client.stream("a").register();
      assertThat(states(client)).hasSize(2).containsOnly(TablesVersion.State.CURRENT);
    } finally {
      other.dropSchema();
    }
  }

  // ---- what goes wrong

  @Test
  void anInterruptedMigrationGoesOn() {
    execute("CREATE TABLE {s}.block ()");
    Steps slow =
        LaterBuild.stepsThatBeginWith(
            "SELECT CASE WHEN to_regclass('{schema}.block') IS NULL THEN NULL ELSE pg_sleep(60) END;");
    try (SqlStreams client = LaterBuild.client(database, slow)) {
      CompletableFuture<List<MigrationStep>> cut =
          CompletableFuture.supplyAsync(() -> client.system().migrate(Migration.up()));
      String running =
          " FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%{s}%pg_sleep(60)%'"
              + " AND wait_event = 'PgSleep'";
      Await.until("the step runs", () -> number("SELECT count(*)" + running) == 1);
      assertThat(client.system().migrations().get(1).unfinished()).isEqualTo(2);
      execute("SELECT pg_terminate_backend(pid)" + running);
      assertThatThrownBy(cut::join)
          .isInstanceOf(CompletionException.class)
          .hasCauseInstanceOf(DatabaseException.class);
      TablesVersion failed = client.system().migrations().get(1);
      assertThat(failed.version()).isEqualTo(1);
      assertThat(failed.unfinished()).isEqualTo(2);
      assertThat(failed.error()).contains("connection");
      // a process that was killed leaves it as begun
      execute("UPDATE {s}.migration_log SET status = 'started', error = NULL WHERE version = 2");
      execute("DROP TABLE {s}.block");
      assertThat(client.system().migrate(Migration.up())).hasSize(2);
      assertThat(number("SELECT count(*) FROM {s}.migration_log WHERE version = 2")).isEqualTo(2);
      assertThat(client.system().migrations())
          .allMatch(tables -> tables.unfinished() == 0)
          .allMatch(tables -> tables.state() == TablesVersion.State.CURRENT);
    }
  }

  @Test
  void twoMigratorsTakeEachStepOnce() {
    for (int i = 0; i < 6; i++) {
      old.stream("more" + i).register();
    }
    try (SqlStreams other = LaterBuild.client(database, LATER)) {
      CompletableFuture<List<MigrationStep>> one =
          CompletableFuture.supplyAsync(() -> later.system().migrate(Migration.up()));
      CompletableFuture<List<MigrationStep>> two =
          CompletableFuture.supplyAsync(() -> other.system().migrate(Migration.up()));
      List<MigrationStep> taken = new ArrayList<>(one.join());
      taken.addAll(two.join());
      assertThat(taken).hasSize(9).doesNotHaveDuplicates();
    }
    assertThat(number("SELECT count(*) FROM {s}.migration_log WHERE version = 2")).isEqualTo(9);
    assertThat(states(later)).containsOnly(TablesVersion.State.CURRENT);
  }

  @Test
  void aLockInTheWayHoldsUpItsOwnStreamAlone() throws SQLException {
    Migrator migrator =
        new Migrator(
            new Database(database.dataSource(), database.schema()),
            Scope.system(database.schema()),
            LATER,
            new Gate(Scope.system(database.schema()), LATER),
            new Patience(3, 10));
    try (Connection reader = database.dataSource().getConnection();
        Statement statement = reader.createStatement()) {
      reader.setAutoCommit(false);
      statement.execute(named("LOCK TABLE {s}.delivery_log_1 IN ACCESS SHARE MODE"));
      CompletableFuture<List<MigrationStep>> migrating =
          CompletableFuture.supplyAsync(() -> migrator.migrate(Migration.up()));
      // who works on the stream comes through between two tries
      while (!migrating.isDone()) {
        old.stream("a").producer().produce(raw());
      }
      assertThatThrownBy(migrating::join)
          .cause()
          .isInstanceOf(DatabaseException.class)
          .hasMessageContaining("migrate stream \"a\" to version 2")
          .hasMessageContaining("each of 3 tries")
          .extracting(e -> ((DatabaseException) e).code())
          .isEqualTo(ErrorCode.CONTENTION);
      reader.rollback();
    }
    assertThat(migrator.status()).extracting(TablesVersion::version).containsExactly(2, 1, 2);
    assertThat(migrator.status().get(1).error()).contains("lock");
    assertThat(migrator.migrate(Migration.up())).hasSize(1);
  }

  // ----

  private interface Producing {
    Object produce(RawPayload payload);
  }

  private static void assertRefused(Producing producing, ErrorCode code) {
    SqlStreamsException refused =
        catchThrowableOfType(SqlStreamsException.class, () -> producing.produce(raw()));
    assertThat(refused.code()).isEqualTo(code);
  }

  private static RawPayload raw() {
    return RawPayload.of("{}");
  }

  private static List<TablesVersion.State> states(SqlStreams client) {
    return client.system().migrations().stream().map(TablesVersion::state).toList();
  }

  private List<String> columns(long stream) {
    return strings(
            "SELECT attrelid::regclass || ' ' || attname || ' ' || format_type(atttypid, atttypmod) FROM pg_attribute"
                + " JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = '{s}'::regnamespace"
                + " AND relkind IN ('r', 'p') AND relname ~ '_"
                + stream
                + "$' AND relname !~ '^message_log_[0-9]+_' AND attnum > 0 AND NOT attisdropped ORDER BY 1")
        .stream()
        .map(line -> line.replace(database.schema() + ".", "").replace("_" + stream + " ", "_# "))
        .toList();
  }

  private String named(String sql) {
    return sql.replace("{s}", database.schema());
  }

  private void execute(String sql) {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(named(sql));
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private long number(String sql) {
    return Long.parseLong(strings(sql).get(0));
  }

  private List<String> strings(String sql) {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(named(sql))) {
      List<String> strings = new ArrayList<>();
      while (row.next()) {
        strings.add(row.getString(1));
      }
      return strings;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
