package io.sqlstreams.bench.server;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.bench.BenchException;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The PostgreSQL that is measured, with a pool of connections to it. */
public final class Server implements AutoCloseable {
  /** What a reader of the figures must know about the server. */
  private static final List<String> TOLD =
      List.of(
          "server_version",
          "fsync",
          "synchronous_commit",
          "full_page_writes",
          "autovacuum",
          "wal_level",
          "wal_compression",
          "data_checksums",
          "shared_buffers",
          "max_wal_size",
          "checkpoint_timeout",
          "max_connections",
          "shared_preload_libraries");

  private static final List<String> DURABLE =
      List.of("fsync", "synchronous_commit", "full_page_writes", "autovacuum");

  private static final int CONNECTIONS = 20;

  private final @Nullable EmbeddedPostgres own;
  private final HikariDataSource pool;

  private Server(@Nullable EmbeddedPostgres own, String url) {
    this.own = own;
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setPoolName("bench");
    config.setMaximumPoolSize(CONNECTIONS);
    config.addDataSourceProperty("ApplicationName", "sqlstreams-bench");
    this.pool = new HikariDataSource(config);
  }

  /**
   * Starts a server of our own, one that loses nothing: the settings are those of production.
   *
   * @throws BenchException when the server doesn't have them
   */
  public static Server start() {
    EmbeddedPostgres.Builder builder =
        EmbeddedPostgres.builder()
            .setLocaleConfig("locale", "C")
            .setLocaleConfig("encoding", "UTF8")
            .setServerConfig("max_connections", "100")
            .setServerConfig("shared_buffers", "1GB")
            .setServerConfig("max_wal_size", "8GB")
            .setServerConfig("shared_preload_libraries", "pg_stat_statements");
    // the library turns the first two off
    DURABLE.forEach(setting -> builder.setServerConfig(setting, "on"));
    EmbeddedPostgres postgres;
    try {
      postgres = builder.start();
    } catch (IOException e) {
      throw new UncheckedIOException("the embedded PostgreSQL doesn't start: " + e.getMessage(), e);
    }
    Server server = new Server(postgres, postgres.getJdbcUrl("postgres", "postgres"));
    try {
      server.requireDurable();
      server.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
      return server;
    } catch (RuntimeException | SQLException e) {
      server.close();
      throw new BenchException("the server isn't as it should be: " + e.getMessage(), e);
    }
  }

  /** A server that runs already. Its settings are told, not changed. */
  public static Server at(String url) {
    return new Server(null, url);
  }

  /** Connections to it; closed with the server. */
  public HikariDataSource pool() {
    return pool;
  }

  /** Runs one statement. */
  public void execute(String sql) throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** The settings as the server tells them, in the order in which they are to be told. */
  public Map<String, String> settings() throws SQLException {
    Map<String, String> found = new TreeMap<>();
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SHOW ALL")) {
      while (row.next()) {
        found.put(row.getString("name"), row.getString("setting"));
      }
    }
    Map<String, String> told = new LinkedHashMap<>();
    TOLD.stream()
        .filter(found::containsKey)
        .forEach(name -> told.put(name, found.getOrDefault(name, "")));
    return told;
  }

  private void requireDurable() throws SQLException {
    Map<String, String> settings = settings();
    for (String name : DURABLE) {
      if (!"on".equals(settings.get(name))) {
        throw new BenchException(name + " is " + settings.get(name) + ", not on");
      }
    }
  }

  @Override
  public void close() {
    pool.close();
    if (own != null) {
      try {
        own.close();
      } catch (IOException e) {
        throw new UncheckedIOException("the embedded PostgreSQL doesn't stop", e);
      }
    }
  }
}
