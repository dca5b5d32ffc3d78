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
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** What a claim costs that passes over nearly everything it sees. */
@SqlStreamsTest
class FilterPlanIT {
  private static final int PARTITIONS = 5;
  private static final int PARTITION_SIZE = 60_000;
  private static final Pattern TOUCHED =
      Pattern.compile(
          "(?:Scan|Index Scan|Index Only Scan)[^\\n]* on message_log_\\d+_(\\d+)[^\\n]*actual");

  TestDatabase database;

  @Test
  void aSelectiveClaimWalksAlongTheKeyAndReadsNoPayloadOfTheOthers() throws SQLException {
    TestStream stream =
        TestStream.register(
            database,
            StreamConfig.defaults().withPartitionSize(PARTITION_SIZE),
            GroupConfig.defaults().withBindings("rare.*", "other.*.*"));
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      stream.addPartitions(PARTITIONS);
      // planned while the tables are empty and known to be, and kept
      statement.execute(stream.sql("ANALYZE {log}, {bindings}"));
      statement.execute("SET plan_cache_mode = force_generic_plan");
      statement.execute(Template.BY_KEYS.replace("SET LOCAL", "SET"));
      Plans.prepare(stream, statement, "kept", ClaimSql.CLAIM);
      explain(stream, statement);
      statement.execute(stream.sql("SELECT setval('{log}_id_seq', 60000)"));
      load(stream, statement, 52_000);

      stream.execute("DELETE FROM {lease}");
      stream.execute("UPDATE {cursor} SET claimed = 60001, committed = 60001");
      long pages = stream.number("SELECT pg_relation_size('{log}_1') / 8192");
      long toastReads = toastReads(stream);
      String plan = explain(stream, statement);
      statement.execute("SELECT pg_stat_force_next_flush()");

      Set<String> partitions = new TreeSet<>();
      Matcher touched = TOUCHED.matcher(plan);
      while (touched.find()) {
        partitions.add(touched.group(1));
      }
      assertThat(partitions).as(plan).containsExactly("1");
      assertThat(plan).doesNotContain("Seq Scan on message_log");
      assertThat(stream.number("SELECT claimed FROM {cursor}")).isEqualTo(110_001);
      assertThat(stream.number("SELECT cardinality(included) FROM {lease}")).isEqualTo(50);
      // the pages of the rows and of the key, once; a payload of its own would be four more for
      // each of 50,000
      assertThat(Plans.buffers(plan)).as(plan).isLessThan(2 * pages + 1_000);
      // a payload that matches takes a few pages of the other table and of its index
      assertThat(toastReads(stream) - toastReads).isLessThan(50 * 10);
      assertThat(plan)
          .as("the walk has the order")
          .doesNotContain("Sort Key: next.id", "Sort Key: walk.id");
      assertThat(plan).as("nothing goes through the disk").doesNotContain("temp written");
    }
  }

  private static long toastReads(TestStream stream) {
    return stream.number(
        "SELECT toast_blks_hit + toast_blks_read FROM pg_statio_all_tables WHERE relid = '{log}_1'::REGCLASS");
  }

  /** Payloads that are stored apart, and one of 1,000 messages that matches. */
  private static void load(TestStream stream, Statement statement, int messages)
      throws SQLException {
    statement.execute(
        stream.sql(
            "INSERT INTO {log} (schema_version, routing_key, payload)"
                + " SELECT 1, CASE WHEN i % 1000 = 0 THEN 'rare.x' ELSE 'often.x' END,"
                + " to_json((SELECT string_agg(md5((i * 100 + k)::TEXT), '') FROM generate_series(1, 80) AS k))"
                + " FROM generate_series(1, "
                + messages
                + ") AS i"));
  }

  private static String explain(TestStream stream, Statement statement) throws SQLException {
    return Plans.explain(
        stream,
        statement,
        "kept",
        ClaimSql.CLAIM,
        Map.of(
            "group", stream.group().id() + "::BIGINT",
            "max_messages", "500::INT",
            "max_scan", Reach.MOST + "::INT",
            "max_bytes", "1000000000::BIGINT",
            "take_suspect", "true",
            "held", "ARRAY[]::UUID[]",
            "token", "gen_random_uuid()",
            "session", "gen_random_uuid()",
            "lease_us", "60000000::BIGINT"));
  }
}
