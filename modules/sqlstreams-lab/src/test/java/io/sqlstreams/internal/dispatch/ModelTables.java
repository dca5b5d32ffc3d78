package io.sqlstreams.internal.dispatch;

import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What the database says of a run: the tables of its stream, and two of the test's own. */
final class ModelTables {
  /** Reads a row. */
  interface Reader<R> {
    R read(ResultSet row) throws SQLException;
  }

  /** A message in a group. */
  record Where(long group, long message) {}

  private final TestDatabase database;
  private final long stream;

  ModelTables(TestDatabase database, long stream) {
    this.database = database;
    this.stream = stream;
  }

  /**
   * Makes the table of effects, and the trigger that writes down what the exception queue holds.
   */
  void create() {
    execute("CREATE TABLE {effects} (message_id BIGINT NOT NULL)");
    execute(
        """
        CREATE TABLE {changes} (
          seq BIGINT GENERATED ALWAYS AS IDENTITY, consumer_group_id BIGINT, message_id BIGINT, status TEXT, attempts INT,
          delays INT, suspect BOOLEAN, due BIGINT, begun BIGINT, made BIGINT)
        """);
    execute(
        """
        CREATE FUNCTION {changes}() RETURNS TRIGGER LANGUAGE plpgsql AS $$
        DECLARE
          row RECORD := coalesce(NEW, OLD);
        BEGIN
          INSERT INTO {changes} (consumer_group_id, message_id, status, attempts, delays, suspect, due, begun, made)
          VALUES (row.consumer_group_id, row.message_id, CASE WHEN TG_OP = 'DELETE' THEN 'gone' ELSE row.status END,
                  row.attempts, row.delays, row.suspect, extract(epoch FROM row.can_run_after) * 1000000,
                  extract(epoch FROM statement_timestamp()) * 1000000, extract(epoch FROM clock_timestamp()) * 1000000);
          RETURN NULL;
        END $$
        """);
    execute(
        "CREATE TRIGGER come_and_go AFTER INSERT OR DELETE ON {queue} FOR EACH ROW EXECUTE FUNCTION {changes}()");
    execute(
        "CREATE TRIGGER change AFTER UPDATE ON {queue} FOR EACH ROW WHEN (OLD.status <> NEW.status)"
            + " EXECUTE FUNCTION {changes}()");
  }

  /** The name of the table of effects. */
  String effects() {
    return name("{effects}");
  }

  /** Ends about half of the connections of this application. */
  void cut(String application) {
    query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE random() < 0.5 AND application_name = '"
            + application
            + "'",
        row -> row.getBoolean(1));
  }

  /** What is still to be done: leases, unfinished exceptions, groups that aren't at the end. */
  long open() {
    return query(
            """
            SELECT (SELECT count(*) FROM {lease})
                   + (SELECT count(*) FROM {queue} WHERE status <> 'dead')
                   + (SELECT count(*) FROM {cursor} WHERE claimed <> (SELECT max(id) FROM {log}) OR committed <> claimed)
            """,
            row -> row.getLong(1))
        .get(0);
  }

  /** The delivery log of every message in every group, in order. */
  Map<Where, List<Delivered>> delivered() {
    return grouped(
        "SELECT consumer_group_id, message_id, attempt, status, error FROM {deliveries} ORDER BY id",
        Delivered::read);
  }

  /** What the exception queue has held of every message in every group, in order. */
  Map<Where, List<QueueChange>> changes() {
    return grouped("SELECT * FROM {changes} ORDER BY seq", QueueChange::read);
  }

  /** What the exception queue holds. */
  Map<Where, List<String>> left() {
    return grouped(
        "SELECT * FROM {queue}",
        row ->
            row.getString("status")
                + "|"
                + row.getInt("attempts")
                + "|"
                + row.getInt("delays")
                + "|"
                + row.getString("last_error"));
  }

  /** The messages whose effects were kept, once for each effect. */
  List<Long> effectsOfMessages() {
    return query("SELECT message_id FROM {effects} ORDER BY 1", row -> row.getLong(1));
  }

  <R> List<R> query(String sql, Reader<R> reader) {
    try (Connection connection = TestPool.shared(database).getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(name(sql))) {
      List<R> rows = new ArrayList<>();
      while (row.next()) {
        rows.add(reader.read(row));
      }
      return rows;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private <R> Map<Where, List<R>> grouped(String sql, Reader<R> reader) {
    Map<Where, List<R>> rows = new HashMap<>();
    query(
        sql,
        row ->
            rows.computeIfAbsent(
                    new Where(row.getLong("consumer_group_id"), row.getLong("message_id")),
                    where -> new ArrayList<>())
                .add(reader.read(row)));
    return rows;
  }

  private void execute(String sql) {
    try (Connection connection = TestPool.shared(database).getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(name(sql));
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private String name(String sql) {
    String prefix = database.schema() + ".";
    return sql.replace("{log}", prefix + "message_log_" + stream)
        .replace("{cursor}", prefix + "consumer_group_cursor_" + stream)
        .replace("{lease}", prefix + "claim_lease_" + stream)
        .replace("{queue}", prefix + "exception_queue_" + stream)
        .replace("{deliveries}", prefix + "delivery_log_" + stream)
        .replace("{effects}", prefix + "model_effects_" + stream)
        .replace("{changes}", prefix + "model_changes_" + stream);
  }
}
