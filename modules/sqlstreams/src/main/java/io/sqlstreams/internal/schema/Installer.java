package io.sqlstreams.internal.schema;

import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.internal.schema.PatientTransaction.Patience;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import io.sqlstreams.internal.sql.SqlWork;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates, finds and drops the tables of one installation. What changes anything runs inside {@link
 * #exclusively}. Thread-safe.
 */
public final class Installer {
  private static final Logger LOG = LoggerFactory.getLogger(Installer.class);
  private static final int OLDEST_SERVER = 15;

  /** With a fifth of a second for each lock, about ten seconds. */
  private static final Patience DROPPING = new Patience(40, 100);

  private static final String DEPENDENT_OBJECTS = "2BP01";
  private static final String INSUFFICIENT_PRIVILEGE = "42501";

  private final Database database;
  private final Scope system;
  private final Steps steps;
  private final Statement lock;
  private final Statement probe;

  /**
   * @param system the installation
   * @param steps what makes the tables of this build
   */
  public Installer(Database database, Scope system, Steps steps) {
    this.database = database;
    this.system = system;
    this.steps = steps;
    this.lock = SchemaSql.LOCK.in(system);
    this.probe = SchemaSql.PROBE.in(system);
  }

  /**
   * Does the work in one transaction, while nobody else changes the tables or the names of this
   * installation.
   *
   * @param what what is being done, for messages
   */
  public <R> R exclusively(String what, SqlWork<R> work) {
    return PatientTransaction.run(database, what, lock, work);
  }

  /**
   * The same for work that drops families: it waits only a moment for each lock, and so tries more
   * often.
   */
  public <R> R dropping(String what, SqlWork<R> work) {
    return PatientTransaction.run(database, what, lock, DROPPING, work);
  }

  /**
   * Whether the control plane is there. Writes nothing.
   *
   * @throws DatabaseException when the server is too old
   */
  public boolean isInstalled(Connection connection) throws SQLException {
    return probe(connection).installed();
  }

  /**
   * Creates the schema and the control plane unless they are there; no DDL is tried when they are.
   */
  public void install(Connection connection) throws SQLException {
    Probe found = probe(connection);
    if (found.installed()) {
      return;
    }
    if (!found.schemaExists()) {
      SchemaSql.CREATE_SCHEMA.in(system).run(connection);
    }
    for (Step step : steps.of(MigrationScope.SYSTEM)) {
      step.up().in(system).run(connection);
      MigrationLogSql.applied(step, system).run(connection);
    }
  }

  /** Creates a stream's family; the row of {@code stream_config} is there already. */
  public void createFamily(Connection connection, long streamId, PayloadType payloadType)
      throws SQLException {
    Scope stream = system.stream(streamId);
    for (Step step : steps.of(MigrationScope.STREAM)) {
      step.up().withPayloadType(payloadType.sqlName()).in(stream).run(connection);
      MigrationLogSql.applied(step, stream).run(connection);
    }
  }

  /** Drops a stream's family. */
  public void dropFamily(Connection connection, long streamId) throws SQLException {
    StreamTables.DROP.in(system.stream(streamId)).run(connection);
  }

  /**
   * Drops the control plane, when no family is left, and then the schema unless something of others
   * is in it.
   */
  public void uninstall(Connection connection) throws SQLException {
    SystemTables.DROP.in(system).run(connection);
    Savepoint before = connection.setSavepoint();
    try {
      SchemaSql.DROP_SCHEMA.in(system).run(connection);
    } catch (SQLException e) {
      if (!SqlErrors.state(e).equals(DEPENDENT_OBJECTS) && !isPermissionDenied(e)) {
        throw e;
      }
      connection.rollback(before);
      LOG.info(
          "schema \"{}\" stays: it holds something of others, or isn't this role's",
          system.schema());
    }
  }

  /**
   * Whether the stream's sequence hands out its ids one by one.
   *
   * @throws DatabaseException when it isn't there
   */
  public boolean isSequenceSound(Connection connection, long streamId) throws SQLException {
    return sequenceCache(connection, streamId) == 1;
  }

  /**
   * Makes the stream's sequence hand out its ids one by one, if it doesn't. A session that caches a
   * block of ids uses small ones after others have used larger ones, outside the order that
   * consumers rely on.
   *
   * @throws DatabaseException when it isn't there, or this role may not alter it
   */
  public void repairSequence(Connection connection, long streamId) throws SQLException {
    long cache = sequenceCache(connection, streamId);
    if (cache == 1) {
      return;
    }
    try {
      SchemaSql.REPAIR_SEQUENCE_CACHE.in(system.stream(streamId)).run(connection);
    } catch (SQLException e) {
      if (isPermissionDenied(e)) {
        throw new DatabaseException(
            ErrorCode.PERMISSION_DENIED,
            sequence(streamId)
                + " has CACHE "
                + cache
                + ", which breaks the order of message ids, and this role may not alter it: its owner must run"
                + " ALTER SEQUENCE "
                + sequence(streamId)
                + " CACHE 1",
            SqlErrors.state(e),
            e);
      }
      throw e;
    }
    LOG.warn(
        "{} had CACHE {}, which breaks the order of message ids: set to 1",
        sequence(streamId),
        cache);
  }

  private long sequenceCache(Connection connection, long streamId) throws SQLException {
    try (Call call = SchemaSql.SEQUENCE_CACHE.in(system.stream(streamId)).on(connection);
        ResultSet row = call.query()) {
      if (!row.next()) {
        throw new DatabaseException(
            ErrorCode.DATABASE_ERROR,
            sequence(streamId)
                + " is missing, though its stream is registered: restore the stream's tables, or destroy the stream",
            null,
            null);
      }
      return row.getLong("seqcache");
    }
  }

  private static boolean isPermissionDenied(SQLException e) {
    return SqlErrors.state(e).equals(INSUFFICIENT_PRIVILEGE);
  }

  private String sequence(long streamId) {
    return "sequence " + system.stream(streamId).messageLog() + "_id_seq";
  }

  private Probe probe(Connection connection) throws SQLException {
    try (Call call = probe.on(connection);
        ResultSet row = call.query()) {
      row.next();
      int version = row.getInt("server_version") / 10_000;
      if (version < OLDEST_SERVER) {
        throw new DatabaseException(
            ErrorCode.DATABASE_ERROR,
            "the server is PostgreSQL "
                + version
                + ", SQLStreams needs "
                + OLDEST_SERVER
                + " or above: upgrade it, or use another server",
            null,
            null);
      }
      return new Probe(row.getBoolean("schema_exists"), row.getBoolean("installed"));
    }
  }

  private record Probe(boolean schemaExists, boolean installed) {}
}
