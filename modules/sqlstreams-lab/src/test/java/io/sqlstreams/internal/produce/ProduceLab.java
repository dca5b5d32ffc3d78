package io.sqlstreams.internal.produce;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import javax.sql.DataSource;

/**
 * A client on one source of connections, streams for it, and plain SQL on what its producers wrote.
 */
final class ProduceLab implements AutoCloseable {
  private final TestDatabase database;
  private final SqlStreams admin;
  private final SqlStreams client;

  ProduceLab(TestDatabase database, DataSource source) {
    this.database = database;
    this.admin = client(database, database.dataSource());
    this.client = client(database, source);
    admin.system().register();
  }

  private static SqlStreams client(TestDatabase database, DataSource source) {
    return SqlStreams.builder(source).schema(database.schema()).allowDestroy(true).build();
  }

  /** The client whose producers are tested. */
  SqlStreams client() {
    return client;
  }

  /** A stream that nothing else uses. */
  StreamInfo register(StreamConfig config) {
    return admin.stream("s-" + UUID.randomUUID()).register(config);
  }

  StreamInfo register() {
    return register(StreamConfig.defaults());
  }

  Producer<RawPayload> producer(String stream) {
    return client.stream(stream).producer();
  }

  Producer<RawPayload> producer(StreamInfo stream) {
    return producer(stream.name());
  }

  Connection connect() throws SQLException {
    return database.dataSource().getConnection();
  }

  String log(StreamInfo stream) {
    return database.schema() + ".message_log_" + stream.id();
  }

  /** A row of a log; the payload as the reader gets it. */
  record Row(
      long id,
      int schemaVersion,
      String routingKey,
      String messageKey,
      String payload,
      String headers) {}

  List<Row> rows(StreamInfo stream) {
    return query(
        "SELECT id, schema_version, routing_key, message_key, payload, headers FROM "
            + log(stream)
            + " ORDER BY id",
        row ->
            new Row(
                row.getLong("id"),
                row.getInt("schema_version"),
                row.getString("routing_key"),
                row.getString("message_key"),
                row.getString("payload"),
                row.getString("headers")));
  }

  List<String> payloads(StreamInfo stream) {
    return rows(stream).stream().map(Row::payload).toList();
  }

  long count(StreamInfo stream) {
    return number("SELECT count(*) FROM " + log(stream));
  }

  long number(String sql) {
    return query(sql, row -> row.getLong(1)).get(0);
  }

  interface Reader<R> {
    R read(ResultSet row) throws SQLException;
  }

  <R> List<R> query(String sql, Reader<R> reader) {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      List<R> rows = new ArrayList<>();
      while (row.next()) {
        rows.add(reader.read(row));
      }
      return rows;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  void execute(String sql) {
    try (Connection connection = connect()) {
      execute(connection, sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  static String value(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return Objects.toString(row.getString(1));
    }
  }

  static RawPayload json(String text) {
    return RawPayload.of(text.getBytes(UTF_8));
  }

  /** This many messages, each with its number as payload and key. */
  static List<Outgoing<RawPayload>> numbered(int count) {
    List<Outgoing<RawPayload>> messages = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      messages.add(Outgoing.of(json(Integer.toString(i)), ProduceOptions.key(Integer.toString(i))));
    }
    return messages;
  }

  /** This many messages, each with its number as payload, and idempotency keys of their own. */
  static List<Outgoing<RawPayload>> withKeys(String prefix, int count) {
    List<Outgoing<RawPayload>> messages = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      messages.add(withKey(prefix + "-" + i, Integer.toString(i)));
    }
    return messages;
  }

  static Outgoing<RawPayload> withKey(String key, String payload) {
    return Outgoing.of(json(payload), ProduceOptions.defaults().withIdempotencyKey(key));
  }

  @Override
  public void close() {
    client.close();
    admin.close();
  }
}
