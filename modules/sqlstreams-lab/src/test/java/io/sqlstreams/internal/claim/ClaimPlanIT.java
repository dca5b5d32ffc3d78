package io.sqlstreams.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.sql.Template;
import io.sqlstreams.lab.Plans;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The plan of the claim must not depend on luck: no statistics, a generic plan, a long log behind
 * it.
 */
@SqlStreamsTest
class ClaimPlanIT {
  private static final int PARTITIONS = 20;
  private static final int PARTITION_SIZE = 60_000;
  private static final int CLAIM = 500;

  TestDatabase database;

  @Test
  void b17_b19_aClaimTouchesOnePartitionAndAsManyBuffersWhateverIsBehindIt() throws SQLException {
    TestStream stream =
        TestStream.register(
            database,
            StreamConfig.defaults().withPartitionSize(PARTITION_SIZE),
            GroupConfig.defaults());
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      stream.addPartitions(PARTITIONS);
      emptyAndKnownToBe(stream, statement);
      // planned while the table is empty and known to be, and kept
      keepPlans(statement);
      Plans.prepare(stream, statement, "kept", ClaimSql.CLAIM);
      explain(stream, statement, "kept");

      load(stream, statement, 2_000);
      position(stream, statement, 1_000);
      Plan few = explain(stream, statement, "kept");

      load(stream, statement, 1_000_000);
      position(stream, statement, 1_000_000);
      Plan many = explain(stream, statement, "kept");

      for (Plan plan : List.of(few, many)) {
        assertThat(plan.partitions()).as(plan.text()).hasSize(1);
        assertThat(plan.text()).doesNotContain("Seq Scan on message_log");
        // it would copy every payload once more
        assertThat(plan.text()).doesNotContain("Sort Key: next.id");
        assertThat(plan.rows()).isEqualTo(CLAIM);
      }
      // the index of a full partition can have one level more than that of one with 2,000 rows
      assertThat(many.buffers()).isBetween(few.buffers() - 20, few.buffers() + 20);

      // the same when the planner may choose anew, and with statistics that say "empty"
      statement.execute("SET plan_cache_mode = auto");
      Plans.prepare(stream, statement, "fresh", ClaimSql.CLAIM);
      position(stream, statement, 1_000_000);
      Plan fresh = explain(stream, statement, "fresh");
      assertThat(fresh.partitions()).as(fresh.text()).hasSize(1);
      assertThat(fresh.text()).doesNotContain("Seq Scan on message_log");
      assertThat(fresh.buffers()).isBetween(few.buffers() - 20, few.buffers() + 20);
    }
  }

  @Test
  void whatIsDueIsFoundByItsKeyEvenInAPlanMadeForAnEmptyQueue() throws SQLException {
    TestStream stream = TestStream.register(database);
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      keepPlans(statement);
      Plans.prepare(stream, statement, "due", ExceptionSql.CLAIM_DUE);
      Plan empty = explainDue(stream, statement);
      stream.execute(
          "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
              + " SELECT "
              + stream.group().id()
              + ", i, CASE WHEN i % 10 = 0 THEN 'ready' ELSE 'dead' END, 'parallel', 1, now()"
              + " FROM generate_series(1, 100000) AS i");
      Plan full = explainDue(stream, statement);
      assertThat(full.buffers()).as(full.text()).isLessThan(300);
      assertThat(empty.text()).doesNotContain("Seq Scan on message_log");
    }
  }

  @Test
  void deadAndWaitingExceptionsChangeNeitherTheClaimNorTheRetry() throws SQLException {
    TestStream stream = TestStream.register(database);
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      keepPlans(statement);
      Plans.prepare(stream, statement, "kept", ClaimSql.CLAIM);
      Plans.prepare(stream, statement, "due", ExceptionSql.CLAIM_DUE);
      load(stream, statement, 10_000);
      position(stream, statement, 1_000);
      Plan claimBefore = explain(stream, statement, "kept");
      queue(stream, statement, 1, 3, "ready", "now()");
      Plan dueBefore = explainDue(stream, statement);

      position(stream, statement, 1_000);
      queue(stream, statement, 1_000_001, 100_000, "dead", "now() - INTERVAL '1 hour'");
      queue(stream, statement, 2_000_001, 10_000, "ready", "now() + INTERVAL '1 hour'");
      Plan claimAfter = explain(stream, statement, "kept");
      queue(stream, statement, 4, 3, "ready", "now()");
      Plan dueAfter = explainDue(stream, statement);

      assertThat(claimAfter.rows()).isEqualTo(CLAIM);
      assertThat(claimAfter.buffers())
          .as(claimAfter.text())
          .isBetween(claimBefore.buffers() - 30, claimBefore.buffers() + 30);
      assertThat(dueAfter.rows()).isEqualTo(3);
      assertThat(dueAfter.buffers())
          .as(dueAfter.text())
          .isBetween(dueBefore.buffers() - 30, dueBefore.buffers() + 30);
    }
  }

  private static void queue(
      TestStream stream, Statement statement, long first, int rows, String status, String due)
      throws SQLException {
    statement.execute(
        stream.sql(
            "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
                + " SELECT %d, %d + i, '%s', 'parallel', 1, %s FROM generate_series(0, %d) AS i"
                    .formatted(stream.group().id(), first, status, due, rows - 1)));
  }

  private static Plan explainDue(TestStream stream, Statement statement) throws SQLException {
    return Plan.of(
        Plans.explain(stream, statement, "due", ExceptionSql.CLAIM_DUE, values(stream, "8::INT")));
  }

  /** Plans are made as the library has them made, and the first is kept. */
  private static void keepPlans(Statement statement) throws SQLException {
    statement.execute("SET plan_cache_mode = force_generic_plan");
    statement.execute(Template.BY_KEYS.replace("SET LOCAL", "SET"));
  }

  private record Plan(String text, Set<String> partitions, long buffers, long rows) {
    private static final Pattern TOUCHED =
        Pattern.compile(
            "(?:Scan|Index Scan|Index Only Scan|Bitmap Heap Scan)[^\\n]* on message_log_\\d+_(\\d+)[^\\n]*actual");
    private static final Pattern ROWS = Pattern.compile("actual rows=(\\d+)");

    static Plan of(String text) {
      Set<String> partitions = new TreeSet<>();
      Matcher touched = TOUCHED.matcher(text);
      while (touched.find()) {
        partitions.add(touched.group(1));
      }
      Matcher rows = ROWS.matcher(text);
      assertThat(rows.find()).isTrue();
      return new Plan(text, partitions, Plans.buffers(text), Long.parseLong(rows.group(1)));
    }
  }

  private static Plan explain(TestStream stream, Statement statement, String prepared)
      throws SQLException {
    return Plan.of(
        Plans.explain(
            stream, statement, prepared, ClaimSql.CLAIM, values(stream, CLAIM + "::INT")));
  }

  private static Map<String, String> values(TestStream stream, String maxMessages) {
    return Map.of(
        "group", stream.group().id() + "::BIGINT",
        "max_messages", maxMessages,
        "max_scan", maxMessages,
        "max_bytes", "1000000000::BIGINT",
        "take_suspect", "true",
        "logs", "true",
        "held", "ARRAY[]::UUID[]",
        "token", "gen_random_uuid()",
        "session", "gen_random_uuid()",
        "lease_us", "60000000::BIGINT");
  }

  private static void emptyAndKnownToBe(TestStream stream, Statement statement)
      throws SQLException {
    statement.execute(stream.sql("ANALYZE {log}"));
    for (int k = 0; k < PARTITIONS; k++) {
      statement.execute(stream.sql("ALTER TABLE {log}_" + k + " SET (autovacuum_enabled = false)"));
    }
  }

  private static void load(TestStream stream, Statement statement, int messages)
      throws SQLException {
    statement.execute(
        stream.sql(
            "INSERT INTO {log} (schema_version, payload) SELECT 1, '{\"some\":\"thing to read\"}' FROM generate_series(1, "
                + messages
                + ")"));
  }

  private static void position(TestStream stream, Statement statement, long claimed)
      throws SQLException {
    // not TRUNCATE, which would have the kept plan made anew
    statement.execute(stream.sql("DELETE FROM {lease}"));
    statement.execute(
        stream.sql("UPDATE {cursor} SET committed = " + claimed + ", claimed = " + claimed));
  }
}
