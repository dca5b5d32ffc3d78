package io.sqlstreams.test;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The PostgreSQL server of this JVM's tests: an embedded one, started on first use and stopped when
 * the JVM ends, or the running one that the environment variable {@value #URL_VARIABLE} names.
 *
 * <p>The embedded server is set up for tests, and never for data that matters:
 *
 * <ul>
 *   <li>{@code fsync} is off, which is faster by a lot and loses data only if the machine stops;
 *       the system property {@value #FSYNC_PROPERTY} {@code = true} turns it on. {@code
 *       synchronous_commit} stays on.
 *   <li>{@value #MAX_CONNECTIONS} connections, {@value #MAX_PREPARED_TRANSACTIONS} prepared
 *       transactions, {@code pg_stat_statements} loaded (not created as an extension).
 *   <li>Locale {@code C}, encoding UTF-8, whatever the machine has.
 *   <li>Its log, with the SQLSTATE of each report, is at {@link #serverLog()}.
 * </ul>
 *
 * <p>A JVM that is killed leaves its server behind; a later run stops it, once it is 10 minutes
 * old.
 *
 * <p>Safe for use by several threads.
 */
public final class TestPostgres {

  /**
   * The environment variable with the JDBC URL, user and password included, of a running server to
   * use instead of the embedded one. Its role must be allowed to create and drop schemas.
   */
  public static final String URL_VARIABLE = "SQLSTREAMS_TEST_URL";

  /** The system property that, when {@code true}, makes the embedded server sync to disk. */
  public static final String FSYNC_PROPERTY = "sqlstreams.test.fsync";

  /** How many connections the embedded server takes, all tests of the JVM together. */
  public static final int MAX_CONNECTIONS = 300;

  /** How many two-phase transactions the embedded server takes. */
  public static final int MAX_PREPARED_TRANSACTIONS = 20;

  private static final Logger LOG = LoggerFactory.getLogger(TestPostgres.class);
  private static final Duration START_LIMIT = Duration.ofSeconds(60);
  private static final int NAME_LENGTH = 24;
  private static final SecureRandom RANDOM = new SecureRandom();

  private static @Nullable TestPostgres instance;

  private final String jdbcUrl;
  private final int majorVersion;
  private final @Nullable ServerLog serverLog;

  private TestPostgres(String jdbcUrl, @Nullable ServerLog serverLog) {
    this.jdbcUrl = jdbcUrl;
    this.serverLog = serverLog;
    this.majorVersion = readMajorVersion(newDataSource("sqlstreams-test"));
  }

  /**
   * The server of this JVM's tests. The first call starts it, which takes about two seconds, or ten
   * where the server's files have never been unpacked on the machine.
   *
   * @return the same server at each call
   * @throws UncheckedIOException if the embedded server doesn't start within 60 seconds
   * @throws IllegalStateException if no connection can be made, or if there is no embedded server
   *     for the platform
   */
  public static synchronized TestPostgres get() {
    TestPostgres server = instance;
    if (server == null) {
      String url = System.getenv(URL_VARIABLE);
      server = url == null || url.isBlank() ? start() : new TestPostgres(url, null);
      instance = server;
    }
    return server;
  }

  private static TestPostgres start() {
    // Inside the library's own folder, where it looks for servers whose JVM was killed.
    Path folder =
        Path.of(
            System.getProperty(
                "ot.epg.working-dir",
                Path.of(System.getProperty("java.io.tmpdir"), "embedded-pg").toString()));
    String id = UUID.randomUUID().toString();
    Path log = folder.resolve(id + ".log");
    try {
      Files.createDirectories(folder);
      Files.createFile(log);
      if (!Boolean.getBoolean(PostgresExtension.KEEP_PROPERTY)) {
        log.toFile().deleteOnExit();
      }
      EmbeddedPostgres postgres =
          EmbeddedPostgres.builder()
              .setDataDirectory(folder.resolve(id))
              .setPGStartupWait(START_LIMIT)
              .setOutputRedirector(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .setErrorRedirector(ProcessBuilder.Redirect.appendTo(log.toFile()))
              .setLocaleConfig("locale", "C")
              .setLocaleConfig("encoding", "UTF8")
              .setServerConfig("fsync", Boolean.getBoolean(FSYNC_PROPERTY) ? "on" : "off")
              .setServerConfig("synchronous_commit", "on") // the library's default is off
              .setServerConfig("max_connections", Integer.toString(MAX_CONNECTIONS))
              .setServerConfig(
                  "max_prepared_transactions", Integer.toString(MAX_PREPARED_TRANSACTIONS))
              .setServerConfig("max_locks_per_transaction", "256") // schemas are dropped whole
              .setServerConfig("shared_preload_libraries", "pg_stat_statements")
              // pg_ctl hands the settings to a shell
              .setServerConfig("log_line_prefix", "'" + ServerLog.LINE_PREFIX + "'")
              .setServerConfig("log_lock_waits", "on")
              .start();
      String url = postgres.getJdbcUrl("postgres", "postgres");
      LOG.info("The PostgreSQL server of the tests is at {}, its log in {}", url, log);
      return new TestPostgres(url, new ServerLog(log));
    } catch (IOException e) {
      throw new UncheckedIOException("The embedded PostgreSQL didn't start; its log: " + log, e);
    }
  }

  /**
   * A schema name that no other test has, and connections to go with it. {@link PostgresExtension}
   * does this for each class, and drops the schema after it; a caller of this method drops it
   * itself, with {@link TestDatabase#dropSchema()}.
   *
   * @param name what the schema's name begins with, for a reader; any text, as the name of a class
   * @return a name for a schema that doesn't exist yet
   */
  public TestDatabase newDatabase(String name) {
    String readable = name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9_]", "");
    String start = readable.substring(0, Math.min(readable.length(), NAME_LENGTH));
    String unique = Long.toString(RANDOM.nextLong() >>> 1, Character.MAX_RADIX); // at most 13
    return new TestDatabase(this, "t_" + start + "_" + unique);
  }

  /**
   * The address of the database that holds the schemas of all tests.
   *
   * @return a JDBC URL with the user and, where there is one, the password
   */
  public String jdbcUrl() {
    return jdbcUrl;
  }

  /**
   * The major version of the server.
   *
   * @return as 18
   */
  public int majorVersion() {
    return majorVersion;
  }

  /**
   * The server's log.
   *
   * @return empty if the server isn't the embedded one
   */
  public Optional<ServerLog> serverLog() {
    return Optional.ofNullable(serverLog);
  }

  DataSource newDataSource(String applicationName) {
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    dataSource.setURL(jdbcUrl);
    dataSource.setApplicationName(applicationName);
    return dataSource;
  }

  private static int readMajorVersion(DataSource dataSource) {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT current_setting('server_version_num')::int / 10000")) {
      row.next();
      return row.getInt(1);
    } catch (SQLException e) {
      throw new IllegalStateException("The PostgreSQL server of the tests can't be reached", e);
    }
  }
}
