package io.sqlstreams.internal.fleet;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * Workers of a name that no other test has. Their streams have no tables: nobody but the fleet
 * looks at them.
 */
final class TestWorkers {
  /** So long that nothing in a test is due because of it. */
  static final FleetTiming CALM =
      new FleetTiming(
          Duration.ofMinutes(10),
          Duration.ofMinutes(5),
          Duration.ofMillis(50),
          Duration.ofMinutes(5),
          Duration.ofMinutes(5),
          Duration.ofSeconds(60),
          Duration.ofHours(24));

  private final TestDatabase database;
  private final String name = "w-" + UUID.randomUUID();

  private TestWorkers(TestDatabase database) {
    this.database = database;
  }

  /** So many, each for one process at a time. */
  static TestWorkers declare(TestDatabase database, int workers) {
    return declare(database, workers, 1);
  }

  static TestWorkers declare(TestDatabase database, int workers, int target) {
    try (SqlStreams client = TestStream.client(database)) {
      client.system().register();
    }
    TestWorkers declared = new TestWorkers(database);
    declared.execute(
        """
        WITH stream AS (
          INSERT INTO {s}.stream_config (system_id, name, payload_type, partition_size, max_payload_bytes)
          SELECT 1, '%1$s-' || number, 'json', 100, 100 FROM generate_series(1, %2$d) AS number
          RETURNING id)
        INSERT INTO {s}.worker_config (stream_id, name, target_instances) SELECT id, '%1$s', %3$d FROM stream
        """
            .formatted(declared.name, workers, target));
    return declared;
  }

  String name() {
    return name;
  }

  Scope system() {
    return Scope.system(database.schema());
  }

  DataSource dataSource() {
    return TestPool.shared(database);
  }

  Database sql() {
    return new Database(dataSource(), database.schema());
  }

  /** A process, as far as it holds workers. */
  Roster roster(Duration lease) {
    return new Roster(sql(), system(), lease);
  }

  Roster roster() {
    return roster(CALM.lease());
  }

  Roster.Found look(Roster roster, List<HeldPost> held) {
    return roster.look(List.of(name), held.stream().map(HeldPost::instance).toList());
  }

  /** What this process can take, holding nothing. */
  List<HeldPost> claim(Roster roster) {
    return look(roster, List.of()).claimed();
  }

  /** Lets the leases of all run out. */
  void expire() {
    execute(
        "UPDATE {s}.worker_instance SET expires_at = clock_timestamp() WHERE worker_config_id IN ({w})");
  }

  void setTarget(int target) {
    execute("UPDATE {s}.worker_config SET target_instances = " + target + " WHERE id IN ({w})");
  }

  long instances() {
    return number("SELECT count(*) FROM {s}.worker_instance WHERE worker_config_id IN ({w})");
  }

  void execute(String sql) {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(text(sql));
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  long number(String sql) {
    return Long.parseLong(rows(sql).get(0));
  }

  List<String> rows(String sql) {
    try (Connection connection = dataSource().getConnection();
        PreparedStatement statement = connection.prepareStatement(text(sql));
        ResultSet row = statement.executeQuery()) {
      List<String> rows = new ArrayList<>();
      while (row.next()) {
        List<String> columns = new ArrayList<>();
        for (int i = 1; i <= row.getMetaData().getColumnCount(); i++) {
          columns.add(row.getString(i));
        }
        rows.add(String.join("|", columns));
      }
      return rows;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** The text with the schema for {@code {s}} and the ids of these workers for {@code {w}}. */
  String text(String sql) {
    return sql.replace("{w}", "SELECT id FROM {s}.worker_config WHERE name = '" + name + "'")
        .replace("{s}", database.schema());
  }
}
