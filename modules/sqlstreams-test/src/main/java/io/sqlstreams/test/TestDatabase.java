package io.sqlstreams.test;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.regex.Pattern;
import javax.sql.DataSource;

/**
 * A schema name of its own on the server of the tests, and ways to reach the server.
 *
 * <p>The schema itself isn't created: that is the business of the code under test. Immutable, and
 * safe for use by several threads.
 */
public final class TestDatabase {

  /** How long {@link #dropSchema()} waits for a lock, in seconds. */
  public static final int DROP_LOCK_TIMEOUT_SECONDS = 20;

  private static final Pattern SCHEMA = Pattern.compile("[a-z_][a-z0-9_]{0,39}");

  private final TestPostgres server;
  private final String schema;
  private final DataSource dataSource;
  private final DataSource hostile;

  TestDatabase(TestPostgres server, String schema) {
    if (!SCHEMA.matcher(schema).matches()) {
      throw new IllegalArgumentException(
          "schema must match " + SCHEMA.pattern() + ", but is " + schema);
    }
    this.server = server;
    this.schema = schema;
    this.dataSource = server.newDataSource(schema);
    this.hostile = new HostileDataSource(server.newDataSource(schema));
  }

  /**
   * A source of plain connections, one new session for each: no pool. The role is a superuser on
   * the embedded server. The schema's name is the sessions' {@code application_name}.
   *
   * @return the same source at each call; safe for use by several threads
   */
  public DataSource dataSource() {
    return dataSource;
  }

  /**
   * A source of connections whose settings are all legal and all unusual: autocommit is off, the
   * default isolation level is {@code SERIALIZABLE}, the session's {@code TimeZone} is {@value
   * HostileDataSource#TIME_ZONE}, and the {@code search_path} is empty. Code that works with any
   * {@code DataSource} of a user works with this one.
   *
   * @return the same source at each call; safe for use by several threads
   */
  public DataSource hostile() {
    return hostile;
  }

  /**
   * The name of the schema for the tests of one class: unlike that of any other class, JVM or run.
   *
   * @return a name that matches {@code ^[a-z_][a-z0-9_]{0,39}$} and needs no quotes
   */
  public String schema() {
    return schema;
  }

  /**
   * The address of the database, for processes that the test starts.
   *
   * @return a JDBC URL with the user and, where there is one, the password
   */
  public String jdbcUrl() {
    return server.jdbcUrl();
  }

  /**
   * The server that holds the schema.
   *
   * @return the one server of this JVM's tests
   */
  public TestPostgres server() {
    return server;
  }

  /**
   * The deadlocks that PostgreSQL found and that name this schema, as its log has them. The log is
   * complete for statements whose failure the client has already seen.
   *
   * @return one text for each, with the statements that took part; empty if there was none
   * @throws IllegalStateException if the server isn't embedded, so that its log is out of reach
   * @throws java.io.UncheckedIOException if the log can't be read
   */
  public List<String> deadlocks() {
    ServerLog log =
        server
            .serverLog()
            .orElseThrow(
                () ->
                    new IllegalStateException(
                        "The log of the server at "
                            + TestPostgres.URL_VARIABLE
                            + " can't be read"));
    return log.reports(ServerLog.DEADLOCK_DETECTED).stream()
        .filter(report -> report.contains(schema))
        .toList();
  }

  /**
   * Drops the schema with all it holds; does nothing if it doesn't exist. {@link PostgresExtension}
   * calls this after the class.
   *
   * @throws IllegalStateException if PostgreSQL refuses, most often because a transaction that the
   *     test left open holds a lock for more than {@value #DROP_LOCK_TIMEOUT_SECONDS} seconds
   */
  public void dropSchema() {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("SET lock_timeout = '" + DROP_LOCK_TIMEOUT_SECONDS + "s'");
      statement.execute("DROP SCHEMA IF EXISTS " + schema + " CASCADE");
    } catch (SQLException e) {
      throw new IllegalStateException("The schema " + schema + " can't be dropped", e);
    }
  }

  @Override
  public String toString() {
    return "TestDatabase[schema=" + schema + "]";
  }
}
