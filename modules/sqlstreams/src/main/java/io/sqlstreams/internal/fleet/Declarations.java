package io.sqlstreams.internal.fleet;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;

/**
 * Declares the workers of the system and of streams, in the transactions that register them. A
 * worker that is there is left alone, so that a stream that is registered again doesn't resume what
 * an operator has suspended. Thread-safe.
 */
public final class Declarations {
  private static final long ALL_STREAMS = 0;

  private final Scope system;

  /**
   * @param system the installation
   */
  public Declarations(Scope system) {
    this.system = system;
  }

  /** Declares those of the system that are missing. */
  public void ofSystem(Connection connection) throws SQLException {
    declare(connection, ALL_STREAMS, kinds(WorkerKind.Owner.SYSTEM));
  }

  /** Declares those of the stream that are missing. */
  public void ofStream(Connection connection, long streamId) throws SQLException {
    declare(connection, streamId, kinds(WorkerKind.Owner.STREAM));
  }

  /**
   * Declares whatever is missing: what was registered by an earlier version may lack the workers
   * that this one has added.
   */
  void ofAll(Database database) {
    database.inTransaction(
        "declaring workers",
        connection -> {
          declare(connection, ALL_STREAMS, WorkerKind.values());
          return true;
        });
  }

  private static WorkerKind[] kinds(WorkerKind.Owner owner) {
    return Arrays.stream(WorkerKind.values())
        .filter(kind -> kind.owner() == owner)
        .toArray(WorkerKind[]::new);
  }

  private void declare(Connection connection, long streamId, WorkerKind[] kinds)
      throws SQLException {
    try (Call call = DeclarationSql.DECLARE_MISSING.in(system).on(connection)) {
      call.setArray("names", "text", Arrays.stream(kinds).map(WorkerKind::workerName).toArray())
          .setArray(
              "targets", "int", Arrays.stream(kinds).map(WorkerKind::targetInstances).toArray())
          .setArray(
              "of_stream",
              "boolean",
              Arrays.stream(kinds).map(kind -> kind.owner() == WorkerKind.Owner.STREAM).toArray())
          .set("stream_id", streamId)
          .update();
    }
  }
}
