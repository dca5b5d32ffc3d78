package io.sqlstreams.cli;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.pool.HikariPool.PoolInitializationException;
import io.sqlstreams.SqlStreams;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which database and which installation in it: common to every verb. */
final class ConnectionOptions {
  /** One to produce or to claim, one for the heartbeats, one more for both at once. */
  private static final int POOL_SIZE = 3;

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Option(
      names = "--url",
      paramLabel = "URL",
      defaultValue = "${env:SQLSTREAMS_URL}",
      description = "The database, as jdbc:postgresql://host:port/name; else $SQLSTREAMS_URL.")
  private @Nullable String url;

  @Option(
      names = "--user",
      paramLabel = "ROLE",
      defaultValue = "${env:SQLSTREAMS_USER}",
      description = "The role; else $SQLSTREAMS_USER, or what the URL says.")
  private @Nullable String user;

  @Option(
      names = "--password",
      paramLabel = "TEXT",
      defaultValue = "${env:SQLSTREAMS_PASSWORD}",
      description =
          "Its password; better $SQLSTREAMS_PASSWORD or ~/.pgpass, which no process list shows.")
  private @Nullable String password;

  @Option(
      names = "--schema",
      paramLabel = "NAME",
      defaultValue = "${env:SQLSTREAMS_SCHEMA:-sqlstreams}",
      description = "The schema of the installation; else $SQLSTREAMS_SCHEMA, or sqlstreams.")
  private String schema = SqlStreams.DEFAULT_SCHEMA;

  /** Does one thing on plain connections: the driver's own words come out when none can be had. */
  <R> R with(Function<SqlStreams, R> work) {
    try (SqlStreams client = SqlStreams.builder(dataSource()).schema(schema).build()) {
      return work.apply(client);
    }
  }

  /** The same for what destroys, once that was confirmed. */
  void withDestroyAllowed(Consumer<SqlStreams> work) {
    try (SqlStreams client =
        SqlStreams.builder(dataSource()).schema(schema).allowDestroy(true).build()) {
      work.accept(client);
    }
  }

  /** The schema of the installation. */
  String schema() {
    return schema;
  }

  /** Does something long on a pool. */
  <R> R withPool(Function<SqlStreams, R> work) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(dataSource());
    config.setMaximumPoolSize(POOL_SIZE);
    config.setMinimumIdle(1);
    try (HikariDataSource pool = new HikariDataSource(config);
        SqlStreams client = SqlStreams.builder(pool).schema(schema).build()) {
      return work.apply(client);
    } catch (PoolInitializationException e) {
      throw new CliException(
          "no connection to the database: " + reason(e) + ": check its address and its credentials",
          e);
    }
  }

  private PGSimpleDataSource dataSource() {
    if (url == null || url.isBlank()) {
      throw new ParameterException(
          spec.commandLine(),
          "no database is named: give --url jdbc:postgresql://host:port/name, or set SQLSTREAMS_URL");
    }
    PGSimpleDataSource dataSource = new PGSimpleDataSource();
    try {
      dataSource.setURL(url);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(
          spec.commandLine(), "--url must look like jdbc:postgresql://host:port/name", e);
    }
    if (user != null && !user.isBlank()) {
      dataSource.setUser(user);
    }
    if (password != null && !password.isEmpty()) {
      dataSource.setPassword(password);
    }
    dataSource.setApplicationName("sqlstreams-cli");
    return dataSource;
  }

  private static @Nullable String reason(Throwable e) {
    @Nullable Throwable cause = e.getCause();
    return cause == null ? e.getMessage() : cause.getMessage();
  }
}
