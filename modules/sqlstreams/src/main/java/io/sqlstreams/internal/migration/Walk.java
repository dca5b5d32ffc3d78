package io.sqlstreams.internal.migration;

import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.schema.MigrationLogSql;
import io.sqlstreams.internal.schema.PatientTransaction;
import io.sqlstreams.internal.schema.PatientTransaction.Patience;
import io.sqlstreams.internal.schema.Step;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Statement;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;

/** Takes one step on some tables, in a transaction of its own. Thread-safe. */
final class Walk {
  /** As much of an error as people read. */
  private static final int ERROR_LENGTH = 1_000;

  private final Database database;
  private final Statement lock;
  private final Patience patience;

  Walk(Database database, Statement lock, Patience patience) {
    this.database = database;
    this.lock = lock;
    this.patience = patience;
  }

  /**
   * Applies the step. A trace of it is there before it begins, and stays when it doesn't come to
   * its end; whoever does it next goes on from there.
   *
   * @return false when there was nothing to do: somebody else has done it, or the stream is gone
   */
  boolean up(Tables tables, Step step) {
    String what = "migrate " + tables.subject() + " to version " + step.version();
    if (!begin(what, tables, step)) {
      return false;
    }
    try {
      return PatientTransaction.run(
          database,
          what,
          lock,
          patience,
          connection -> {
            if (!isAt(connection, tables, step.version() - 1)) {
              return false;
            }
            step.up().in(tables.where()).run(connection);
            MigrationLogSql.applied(step, tables.where()).run(connection);
            return true;
          });
    } catch (SqlStreamsException e) {
      recordFailure(what, tables, step, e);
      throw e;
    }
  }

  /** Under the lock: two migrators that begin at once would leave a trace each. */
  private boolean begin(String what, Tables tables, Step step) {
    Statement started = of(MigrationSql.STARTED, tables, step).in(tables.where());
    return PatientTransaction.run(
        database,
        what,
        lock,
        patience,
        connection -> {
          if (!isAt(connection, tables, step.version() - 1)) {
            return false;
          }
          started.run(connection);
          return true;
        });
  }

  /** Takes the step back; false as for {@link #up}. */
  boolean down(Tables tables, Step step) {
    return PatientTransaction.run(
        database,
        "migrate " + tables.subject() + " back from version " + step.version(),
        lock,
        patience,
        connection -> {
          if (!isAt(connection, tables, step.version())) {
            return false;
          }
          Objects.requireNonNull(step.down()).in(tables.where()).run(connection);
          MigrationLogSql.reverted(step, tables.where()).run(connection);
          return true;
        });
  }

  private static boolean isAt(Connection connection, Tables tables, int version)
      throws SQLException {
    return isThere(connection, tables)
        && Version.read(connection, tables.where()).version() == version;
  }

  private static boolean isThere(Connection connection, Tables tables) throws SQLException {
    if (tables.stream() == null) {
      return true;
    }
    try (Call call = MigrationSql.IS_STREAM.in(tables.where()).on(connection);
        ResultSet row = call.query()) {
      return row.next();
    }
  }

  private void recordFailure(String what, Tables tables, Step step, SqlStreamsException reason) {
    String message = String.valueOf(reason.getMessage());
    Statement failed = of(MigrationSql.FAILED, tables, step).asTransaction(tables.where());
    String error = message.substring(0, Math.min(message.length(), ERROR_LENGTH));
    try {
      database.autoCommitted(
          what,
          connection -> {
            try (Call call = failed.on(connection)) {
              return call.set("error", error).update();
            }
          });
    } catch (SqlStreamsException e) {
      reason.addSuppressed(e); // it stays as begun
    }
  }

  private static Template of(Template template, Tables tables, Step step) {
    return MigrationLogSql.of(template, step, tables.where())
        .withPart("owners", tables.stream() == null ? "system_config" : "stream_config");
  }
}
