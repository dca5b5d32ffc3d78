package io.sqlstreams.lab;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** A stream of its own for one test, with a group, and plain SQL on its tables. */
public final class TestStream {
  private static final String INSERT =
      "INSERT INTO {log} (schema_version, payload) SELECT 1, '{}' FROM generate_series(1, ";

  private final TestDatabase database;
  private final StreamInfo stream;
  private final GroupInfo group;

  private TestStream(TestDatabase database, StreamInfo stream, GroupInfo group) {
    this.database = database;
    this.stream = stream;
    this.group = group;
  }

  public static TestStream register(TestDatabase database) {
    return register(database, StreamConfig.defaults(), GroupConfig.defaults());
  }

  public static TestStream register(
      TestDatabase database, StreamConfig config, GroupConfig groupConfig) {
    String name = "s-" + UUID.randomUUID();
    try (SqlStreams client = client(database)) {
      StreamInfo stream = client.stream(name).register(config);
      return new TestStream(database, stream, client.stream(name).group("g").register(groupConfig));
    }
  }

  /** A client on the pool of the class. */
  public static SqlStreams client(TestDatabase database) {
    return SqlStreams.builder(TestPool.shared(database))
        .schema(database.schema())
        .allowDestroy(true)
        .build();
  }

  public String name() {
    return stream.name();
  }

  public StreamInfo info() {
    return stream;
  }

  public GroupInfo group() {
    return group;
  }

  public Scope scope() {
    return Scope.system(database.schema()).stream(stream.id());
  }

  public DataSource dataSource() {
    return TestPool.shared(database);
  }

  /** A connection that no pool counts; close it. */
  public Connection unpooled() throws SQLException {
    return database.dataSource().getConnection();
  }

  /**
   * The text with {@code {log}}, {@code {cursor}}, {@code {lease}}, {@code {queue}}, {@code
   * {deliveries}}, {@code {operations}}, {@code {keys}}, {@code {heads}}, {@code {bindings}},
   * {@code {trail}} as table names.
   */
  public String sql(String text) {
    String prefix = database.schema() + ".";
    return text.replace("{schema}", database.schema())
        .replace("{log}", prefix + "message_log_" + stream.id())
        .replace("{cursor}", prefix + "consumer_group_cursor_" + stream.id())
        .replace("{lease}", prefix + "claim_lease_" + stream.id())
        .replace("{queue}", prefix + "exception_queue_" + stream.id())
        .replace("{deliveries}", prefix + "delivery_log_" + stream.id())
        .replace("{operations}", prefix + "operation_log_" + stream.id())
        .replace("{keys}", prefix + "idempotency_key_" + stream.id())
        .replace("{heads}", prefix + "compaction_head_" + stream.id())
        .replace("{bindings}", prefix + "binding_config_" + stream.id())
        .replace("{trail}", prefix + "binding_config_log_" + stream.id())
        .replace("{effects}", prefix + "effects");
  }

  /** Begins a transaction of a session with this name. */
  public NamedTransaction begin(String session) {
    return NamedTransaction.begin(this, session);
  }

  /** Runs statements in a transaction of their own. */
  public void execute(String sql) {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql(sql));
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Creates partitions of the log, behind the two that are there, until there are so many. */
  public void addPartitions(int partitions) {
    long size = stream.config().partitionSize();
    for (int k = 2; k < partitions; k++) {
      execute(
          "CREATE TABLE {log}_%d PARTITION OF {log} FOR VALUES FROM (%d) TO (%d)"
              .formatted(k, k * size + 1, (k + 1) * size + 1));
    }
  }

  /** Commits this many small messages, tells consumers of it, and gives their ids. */
  public List<Long> produce(int messages) {
    return longs(
        "WITH written AS ("
            + INSERT
            + messages
            + ") RETURNING id) SELECT id, pg_notify('sqlstreams.{schema}', '"
            + stream.id()
            + "') FROM written ORDER BY id");
  }

  /** The same, and nobody is told: somebody else's program wrote them. */
  public List<Long> produceSilently(int messages) {
    return longs(INSERT + messages + ") RETURNING id");
  }

  /** The first column of every row. */
  public List<Long> longs(String sql) {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql(sql))) {
      List<Long> values = new ArrayList<>();
      while (row.next()) {
        values.add(row.getLong(1));
      }
      return values;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** The one number that this query gives. */
  public long number(String sql) {
    return longs(sql).get(0);
  }

  /** Every row as its columns' texts, joined with a bar. */
  public List<String> rows(String sql) {
    try (Connection connection = dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql(sql))) {
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

  /** Waits until a claim in this class's schema waits for a lock. */
  public void awaitClaimThatWaits() {
    awaitWaiting("claim_range");
  }

  /**
   * Waits until a statement with this text, such as its name, waits for a lock in this class's
   * schema.
   */
  public void awaitWaiting(String text) {
    Await.until(
        text + " waits",
        () ->
            number(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                        + " AND query LIKE '%"
                        + text
                        + "%' AND application_name = '"
                        + database.schema()
                        + "'")
                > 0);
  }

  /** Drops the log's partition of this number, as an old one is dropped. */
  public void dropPartition(long number) {
    execute("ALTER TABLE {log} DETACH PARTITION {log}_" + number);
    execute("DROP TABLE {log}_" + number);
  }

  /** Waits until every message of the group is done or dead, and nothing is held any more. */
  public void awaitSettled() {
    Await.until("everything is done or dead", this::isSettled);
  }

  /** Whether every message of the group is done or dead, and nothing is held any more. */
  public boolean isSettled() {
    return number("SELECT claimed FROM {cursor}")
            == number("SELECT coalesce(max(id), 0) FROM {log}")
        && number("SELECT count(*) FROM {lease}") == 0
        && number("SELECT count(*) FROM {queue} WHERE status <> 'dead'") == 0;
  }

  /** Waits until so many messages of the group are dead. */
  public void awaitDead(int messages) {
    Await.until(
        messages + " messages are dead",
        () -> number("SELECT count(*) FROM {queue} WHERE status = 'dead'") == messages);
  }
}
