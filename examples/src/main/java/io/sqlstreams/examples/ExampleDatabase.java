package io.sqlstreams.examples;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.test.TestPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;

/**
 * Where an example runs: a pool of connections to a schema of its own, which is dropped at the end.
 * An application has a pool already, and gives that to the client.
 */
final class ExampleDatabase implements AutoCloseable {
  private static final int CONNECTIONS = 4;

  private final String schema;
  private final HikariDataSource pool;

  private ExampleDatabase(String url, String schema) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setSchema(schema); // for the example's own tables; the library names its schema itself
    config.setMaximumPoolSize(CONNECTIONS);
    this.schema = schema;
    this.pool = new HikariDataSource(config);
  }

  /**
   * Opens the database that the program's argument names, as {@code
   * jdbc:postgresql://localhost/shop?user=me&password=secret}; without one, an embedded PostgreSQL.
   */
  static ExampleDatabase open(String[] args) throws SQLException {
    String url = args.length > 0 ? args[0] : TestPostgres.get().jdbcUrl();
    String schema = "example_" + UUID.randomUUID().toString().substring(0, 8);
    ExampleDatabase database = new ExampleDatabase(url, schema);
    database.execute("CREATE SCHEMA " + schema);
    return database;
  }

  /** A client whose installation is in this schema too. */
  SqlStreams client() {
    return SqlStreams.builder(pool).schema(schema).build();
  }

  /** Runs a statement without parameters. */
  void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Override
  public void close() throws SQLException {
    try (pool) {
      execute("DROP SCHEMA " + schema + " CASCADE");
    }
  }
}
