package io.sqlstreams.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import javax.sql.DataSource;

/** Pools of connections, since a new PostgreSQL session for each statement makes a slow test. */
public final class TestPool {
  private static final Map<String, HikariDataSource> SHARED = new ConcurrentHashMap<>();

  private TestPool() {}

  /** The pool that all tests of a class share. */
  public static DataSource shared(TestDatabase database) {
    return SHARED.computeIfAbsent(database.schema(), schema -> of(database.dataSource(), 20));
  }

  /** A pool of this size over a source of connections; close it. */
  public static HikariDataSource of(DataSource source, int size) {
    return of(source, size, true);
  }

  /**
   * A pool of this size with all that a library must endure: see {@link TestDatabase#hostile};
   * close it.
   */
  public static HikariDataSource hostile(TestDatabase database, int size) {
    return of(database.hostile(), size, false);
  }

  private static HikariDataSource of(DataSource source, int size, boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(source);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    // the shortest there is: the server's connections are for all classes together
    config.setIdleTimeout(Duration.ofSeconds(10).toMillis());
    config.setAutoCommit(autoCommit);
    return new HikariDataSource(config);
  }
}
