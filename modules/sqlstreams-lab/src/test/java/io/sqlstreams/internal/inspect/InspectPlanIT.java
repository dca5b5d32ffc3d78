package io.sqlstreams.internal.inspect;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.sql.Template;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.Plans;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What a look costs doesn't depend on the length of the log, the queue or the delivery log. */
@SqlStreamsTest
class InspectPlanIT {
  private static final int PARTITIONS = 20;
  private static final int PARTITION_SIZE = 60_000;

  TestDatabase database;

  @Test
  void aSnapshotWalksToItsLimitsAndNoFurtherWhateverTheStatisticsSay() throws SQLException {
    TestStream stream = registerInPartitions();
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      plansAnew(stream, statement);
      load(stream, statement);
      // never analysed
      requireBounded(explain(stream, statement, "snapshot", SnapshotSql.SNAPSHOT));
      requireVersionsBounded(stream, statement);
      statement.execute(stream.sql("ANALYZE {log}, {queue}, {lease}, {cursor}"));
      requireBounded(explain(stream, statement, "snapshot", SnapshotSql.SNAPSHOT));
      requireVersionsBounded(stream, statement);
    }
  }

  @Test
  void looksArePlannedWellWhenTheStatisticsSayEmpty() throws SQLException {
    TestStream stream = registerInPartitions();
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      plansAnew(stream, statement);
      statement.execute(stream.sql("ANALYZE {log}, {queue}, {lease}, {cursor}, {deliveries}"));
      load(stream, statement);
      requireBounded(explain(stream, statement, "snapshot", SnapshotSql.SNAPSHOT));
      requireFew(stream, statement);
      requireVersionsBounded(stream, statement);
      // and without a second look at the group's numbers, which is what a plan that is kept has
      statement.execute("SET plan_cache_mode = force_generic_plan");
      requireBounded(explain(stream, statement, "snapshot", SnapshotSql.SNAPSHOT));
      requireFew(stream, statement);
    }
  }

  /** What the two tests above show would be worth nothing for plans that are kept. */
  @Test
  void noPlanOfALookIsKept() throws SQLException {
    TestStream stream = TestStream.register(database);
    stream.produce(1);
    try (HikariDataSource one = TestPool.of(database.dataSource(), 1);
        SqlStreams client = SqlStreams.builder(one).schema(database.schema()).build()) {
      for (int i = 0; i < 20; i++) {
        client.stream(stream.name()).group("g").snapshot();
        client.stream(stream.name()).message(1);
      }
      try (Connection connection = one.getConnection();
          Statement statement = connection.createStatement();
          ResultSet row =
              statement.executeQuery(
                  "SELECT count(*), sum(custom_plans), sum(generic_plans) FROM pg_prepared_statements"
                      + " WHERE statement LIKE '%look_up_%' OR statement LIKE '%group_snapshot%'")) {
        assertThat(row.next()).isTrue();
        assertThat(row.getInt(1)).as("the driver prepares all three").isEqualTo(3);
        assertThat(row.getInt(2)).isGreaterThan(3 * 10);
        assertThat(row.getInt(3)).isZero();
      }
    }
  }

  private static void requireBounded(String plan) {
    // 10,000 rows each of the log, of what is ready, and of what is dead; the ready ones lie
    // scattered
    assertThat(Plans.buffers(plan)).as(plan).isLessThan(5_000);
    assertThat(plan)
        .doesNotContainPattern("Seq Scan on message_log[^\\n]*actual rows=[1-9]")
        .doesNotContain("Seq Scan on exception_queue")
        .doesNotContain("LockRows")
        .doesNotContain("Update on")
        .containsPattern("Function Scan on pg_lock_status[^\\n]*never executed");
  }

  private static void requireVersionsBounded(TestStream stream, Statement statement)
      throws SQLException {
    String plan = explain(stream, statement, "versions", VersionSql.VERSIONS);
    // 10,000 rows of the log, and a look at it for each of 20,000 exceptions
    assertThat(Plans.buffers(plan)).as(plan).isLessThan(110_000);
    assertThat(plan)
        .doesNotContainPattern("Seq Scan on message_log[^\\n]*actual rows=[1-9]")
        .doesNotContain("Seq Scan on exception_queue");
  }

  @Test
  void theLocksAreLookedAtWhileTheGroupStandsAtAGap() throws SQLException {
    TestStream stream = TestStream.register(database);
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement();
        NamedTransaction open = stream.begin("open")) {
      Plans.prepare(stream, statement, "look", SnapshotSql.SNAPSHOT);
      open.inserts();
      stream.produce(1);
      assertThat(explain(stream, statement, "look", SnapshotSql.SNAPSHOT))
          .doesNotContainPattern("Function Scan on pg_lock_status[^\\n]*never executed");
    }
  }

  private static void requireFew(TestStream stream, Statement statement) throws SQLException {
    String message = explain(stream, statement, "message", LookupSql.MESSAGE);
    assertThat(Plans.buffers(message)).as(message).isLessThan(20);
    String deliveries = explain(stream, statement, "deliveries", LookupSql.DELIVERIES);
    assertThat(Plans.buffers(deliveries)).as(deliveries).isLessThan(60);
  }

  private static void plansAnew(TestStream stream, Statement statement) throws SQLException {
    statement.execute("SET plan_cache_mode = force_custom_plan");
    Plans.prepare(stream, statement, "snapshot", SnapshotSql.SNAPSHOT);
    Plans.prepare(stream, statement, "message", LookupSql.MESSAGE);
    Plans.prepare(stream, statement, "deliveries", LookupSql.DELIVERIES);
    Plans.prepare(stream, statement, "versions", VersionSql.VERSIONS);
  }

  private static String explain(
      TestStream stream, Statement statement, String prepared, Template template)
      throws SQLException {
    return Plans.explain(stream, statement, prepared, template, values(stream));
  }

  private static Map<String, String> values(TestStream stream) {
    return Map.of(
        "group", stream.group().id() + "::BIGINT",
        "message_log", "'" + stream.scope().messageLog() + "'::TEXT",
        "count_limit", "10000::INT",
        "most_blockers", "20::INT",
        "message_id", "77777::BIGINT",
        "stream", stream.info().id() + "::BIGINT",
        "most_keys", "100::INT",
        "most_history", "1000::INT");
  }

  private TestStream registerInPartitions() throws SQLException {
    TestStream stream =
        TestStream.register(
            database,
            StreamConfig.defaults().withPartitionSize(PARTITION_SIZE),
            GroupConfig.defaults());
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      stream.addPartitions(PARTITIONS);
      withoutAutovacuum(stream, statement);
    }
    return stream;
  }

  private static void withoutAutovacuum(TestStream stream, Statement statement)
      throws SQLException {
    for (int k = 0; k < PARTITIONS; k++) {
      statement.execute(stream.sql("ALTER TABLE {log}_" + k + " SET (autovacuum_enabled = false)"));
    }
    for (String table : List.of("{queue}", "{lease}", "{cursor}", "{deliveries}")) {
      statement.execute(stream.sql("ALTER TABLE " + table + " SET (autovacuum_enabled = false)"));
    }
  }

  /** A backlog of 1,005,000 behind 100,000 dead messages, 10,000 ready ones and 10 ranges. */
  private static void load(TestStream stream, Statement statement) throws SQLException {
    long group = stream.group().id();
    statement.execute(
        stream.sql(
            "INSERT INTO {log} (schema_version, payload) SELECT 1, '{\"some\":\"thing to read\"}'"
                + " FROM generate_series(1, 1120000)"));
    statement.execute(
        stream.sql(
            "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after, last_error)"
                + " SELECT "
                + group
                + ", i, CASE WHEN i % 11 = 0 THEN 'ready' ELSE 'dead' END, 'parallel', 1, now(), repeat('x', 50)"
                + " FROM generate_series(1, 110000) AS i"));
    statement.execute(
        stream.sql(
            "INSERT INTO {lease} (token, consumer_group_id, low, high, expires_at, session)"
                + " SELECT gen_random_uuid(), "
                + group
                + ", 110000 + i * 500, 110500 + i * 500, now(), gen_random_uuid() FROM generate_series(0, 9) AS i"));
    statement.execute(
        stream.sql(
            "INSERT INTO {deliveries} (consumer_group_id, message_id, attempt, status) SELECT "
                + group
                + ", i % 100000 + 1, 0, 'failure' FROM generate_series(1, 300000) AS i"));
    statement.execute(stream.sql("UPDATE {cursor} SET claimed = 115000, committed = 10"));
  }
}
