package io.sqlstreams.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.order.KeySql;
import io.sqlstreams.internal.sql.Template;
import io.sqlstreams.lab.Plans;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.PostgresExtension;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** What a key with many waiting messages costs itself and others. */
@ExtendWith(PostgresExtension.class)
class KeyPlanIT {
  private static final int MESSAGES = 100;
  private static final List<Integer> WAITING = List.of(100, 1_000, 10_000);

  TestDatabase database;

  /** With plans that were made for empty tables, and kept. */
  @Test
  void aStepCostsTheSameHoweverManyMessagesOfTheKeyWait() throws SQLException {
    TestStream stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults().withConcurrency(Concurrency.ORDERED));
    List<Cost> costs = new ArrayList<>();
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      statement.execute("SET plan_cache_mode = force_generic_plan");
      statement.execute(Template.BY_KEYS.replace("SET LOCAL", "SET"));
      Plans.prepare(stream, statement, "claim", ClaimSql.CLAIM);
      Plans.prepare(stream, statement, "due", ExceptionSql.CLAIM_DUE);
      Plans.prepare(stream, statement, "wake", ExceptionSql.WAKE);
      cost(stream, connection, statement);
      for (int waiting : WAITING) {
        fill(stream, waiting);
        costs.add(cost(stream, connection, statement));
      }
    }
    System.out.println("buffers with " + WAITING + " waiting messages of a key: " + costs);
    Cost few = costs.get(0);
    // an index can have one level more
    for (Cost many : costs) {
      assertThat(many.claim()).as("a claim of others").isLessThan(2 * few.claim());
      assertThat(many.claimOfKey()).as("of the key").isLessThan(2 * few.claimOfKey());
      assertThat(many.due()).as("a due retry and those behind it").isLessThan(2 * few.due());
      assertThat(many.wake()).as("a look for turns").isLessThan(3 * few.wake() + 100);
    }
  }

  /** The buffers that each step touches. */
  private record Cost(long claim, long claimOfKey, long due, long wake) {}

  private static Cost cost(TestStream stream, Connection connection, Statement statement)
      throws SQLException {
    stream.execute(
        "INSERT INTO {log} (schema_version, message_key, payload)"
            + " SELECT 1, 'other' || i, '{}' FROM generate_series(1, %d) AS i".formatted(MESSAGES));
    long claim = buffers(stream, connection, statement, "claim", ClaimSql.CLAIM);
    stream.execute("UPDATE {cursor} SET claimed = (SELECT max(id) FROM {log})");
    stream.execute(
        "INSERT INTO {log} (schema_version, message_key, payload)"
            + " SELECT 1, 'hot', '{}' FROM generate_series(1, %d)".formatted(MESSAGES));
    long claimOfKey = buffers(stream, connection, statement, "claim", ClaimSql.CLAIM);
    stream.execute("UPDATE {cursor} SET claimed = (SELECT max(id) FROM {log})");
    return new Cost(
        claim,
        claimOfKey,
        buffers(stream, connection, statement, "due", ExceptionSql.CLAIM_DUE),
        buffers(stream, connection, statement, "wake", ExceptionSql.WAKE));
  }

  private static void fill(TestStream stream, int waiting) {
    stream.execute("TRUNCATE {queue}");
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, message_key, concurrency, attempts, can_run_after)"
            + " SELECT %d, i, CASE WHEN i = 1 THEN 'ready' ELSE 'deferred' END, 'hot', 'ordered', 0, now()"
                .formatted(stream.group().id())
            + " FROM generate_series(1, %d) AS i".formatted(waiting));
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, message_key, concurrency, attempts, can_run_after)"
            + " SELECT %d, 1000000 + i, 'deferred', 'waiting' || i, 'ordered', 0, now()"
                .formatted(stream.group().id())
            + " FROM generate_series(1, 20) AS i");
  }

  /** Under the lock, as the library runs it, and undone. */
  private static long buffers(
      TestStream stream, Connection connection, Statement statement, String name, Template template)
      throws SQLException {
    connection.setAutoCommit(false);
    try {
      statement.execute(
          KeySql.LOCK
              .replace("{schema}.claim_lease_{stream}", stream.sql("{lease}"))
              .replace("{schema}.consumer_group_cursor_{stream}", stream.sql("{cursor}"))
              .replace(":group", Long.toString(stream.group().id())));
      return Plans.buffers(Plans.explain(stream, statement, name, template, values(stream)));
    } finally {
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  private static Map<String, String> values(TestStream stream) {
    Map<String, String> values = new HashMap<>();
    values.put("group", stream.group().id() + "::BIGINT");
    values.put("max_messages", MESSAGES + "::INT");
    values.put("max_bytes", "1000000000::BIGINT");
    values.put("take_suspect", "true");
    values.put("held", "ARRAY[]::UUID[]");
    values.put("chained", "ARRAY[]::UUID[]");
    values.put("token", "gen_random_uuid()");
    values.put("session", "gen_random_uuid()");
    values.put("lease_us", "60000000::BIGINT");
    values.put("concurrency", "'ordered'");
    values.put("concurrency_override", "NULL");
    values.put("logs_deferred", "false");
    values.put("with_followers", "true");
    values.put("after_key", "''");
    values.put("after_id", "0::BIGINT");
    values.put("max_keys", "10::INT");
    return values;
  }
}
