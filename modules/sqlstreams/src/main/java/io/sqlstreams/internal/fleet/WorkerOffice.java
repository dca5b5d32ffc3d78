package io.sqlstreams.internal.fleet;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.WorkerInfo;
import io.sqlstreams.WorkerInstance;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.WorkerNotFoundException;
import io.sqlstreams.error.WorkerStateException;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Workers as an operator sees them, and what he does with them. Thread-safe. */
public final class WorkerOffice {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,200}");
  private static final long EVERYBODY = -1;
  private static final long SYSTEM = 0;

  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public WorkerOffice(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /** Every worker: those of the system, then those of the streams. */
  public List<WorkerInfo> list() {
    return database.autoCommitted(
        "listing workers", connection -> read(connection, EVERYBODY, null));
  }

  /**
   * The workers of an owner.
   *
   * @param stream the stream; null for the system
   */
  public List<WorkerInfo> list(@Nullable StreamInfo stream) {
    return database.autoCommitted(
        "listing workers", connection -> read(connection, owner(stream), null));
  }

  /**
   * A worker.
   *
   * @throws WorkerNotFoundException when the owner has none of this name
   */
  public WorkerInfo status(@Nullable StreamInfo stream, String name) {
    return database.autoCommitted(
        "reading worker \"" + name + "\"", connection -> require(connection, stream, name));
  }

  /**
   * Suspends a worker.
   *
   * @throws WorkerNotFoundException when the owner has none of this name
   * @throws WorkerStateException when it is suspended
   */
  public WorkerInfo suspend(@Nullable StreamInfo stream, String name) {
    return database.inTransaction(
        "suspending worker \"" + name + "\"",
        connection -> {
          Locked worker = lock(connection, stream, name);
          if (worker.target() == 0) {
            throw WorkerStateException.suspended(name, nameOf(stream));
          }
          setTarget(connection, worker, 0);
          return require(connection, stream, name);
        });
  }

  /**
   * Lets a suspended worker run again, in as many processes as before.
   *
   * @throws WorkerNotFoundException when the owner has none of this name
   * @throws WorkerStateException when it isn't suspended
   */
  public WorkerInfo resume(@Nullable StreamInfo stream, String name) {
    return database.inTransaction(
        "resuming worker \"" + name + "\"",
        connection -> {
          Locked worker = lock(connection, stream, name);
          if (worker.target() != 0) {
            throw WorkerStateException.notSuspended(name, nameOf(stream));
          }
          setTarget(connection, worker, earlierTarget(connection, worker));
          return require(connection, stream, name);
        });
  }

  /**
   * @throws InvalidInputException when no worker can have this name
   */
  public static String requireName(String name) {
    if (!NAME.matcher(name).matches()) {
      throw new InvalidInputException(
          "name",
          "a worker's name is 1 to 200 of the letters A-Z and a-z, digits, '.', '_' and '-'");
    }
    return name;
  }

  private Locked lock(Connection connection, @Nullable StreamInfo stream, String name)
      throws SQLException {
    try (Call call = DeclarationSql.LOCK.in(system).on(connection);
        ResultSet row = call.set("name", name).set("stream_id", owner(stream)).query()) {
      if (row.next()) {
        return new Locked(row.getLong("id"), row.getInt("target_instances"));
      }
    }
    throw notFound(connection, stream, name);
  }

  private void setTarget(Connection connection, Locked worker, int target) throws SQLException {
    try (Call call = DeclarationSql.SET_TARGET.in(system).on(connection)) {
      call.set("worker", worker.id()).set("target", target).update();
    }
  }

  /** One, for a worker that was declared suspended. */
  private int earlierTarget(Connection connection, Locked worker) throws SQLException {
    try (Call call = DeclarationSql.EARLIER_TARGET.in(system).on(connection);
        ResultSet row = call.set("worker", worker.id()).query()) {
      return row.next() ? row.getInt("target_instances") : 1;
    }
  }

  private WorkerInfo require(Connection connection, @Nullable StreamInfo stream, String name)
      throws SQLException {
    List<WorkerInfo> found = read(connection, owner(stream), name);
    if (found.isEmpty()) {
      throw notFound(connection, stream, name);
    }
    return found.get(0);
  }

  private WorkerNotFoundException notFound(
      Connection connection, @Nullable StreamInfo stream, String name) throws SQLException {
    return new WorkerNotFoundException(
        name,
        nameOf(stream),
        read(connection, owner(stream), null).stream().map(WorkerInfo::name).toList());
  }

  private List<WorkerInfo> read(Connection connection, long owner, @Nullable String name)
      throws SQLException {
    try (Call call = OfficeSql.LIST.in(system).on(connection);
        ResultSet row = call.set("stream_id", owner).set("name", name).query()) {
      List<WorkerInfo> workers = new ArrayList<>();
      List<WorkerInstance> instances = new ArrayList<>();
      long last = 0;
      while (row.next()) {
        if (row.getLong("id") != last) {
          last = row.getLong("id");
          instances = new ArrayList<>();
          workers.add(worker(row, instances));
        }
        if (row.getObject("expires_at") != null) {
          instances.add(
              new WorkerInstance(
                  Instants.of(row, "created_at"),
                  Instants.of(row, "expires_at"),
                  row.getInt("attempts")));
        }
      }
      return workers.stream().map(WorkerOffice::sealed).toList();
    }
  }

  private static WorkerInfo worker(ResultSet row, List<WorkerInstance> instances)
      throws SQLException {
    return new WorkerInfo(
        row.getString("name"),
        row.getString("stream"),
        row.getInt("target_instances"),
        row.getString("metadata"),
        instances,
        Instants.orNull(row, "held_until"));
  }

  private static WorkerInfo sealed(WorkerInfo open) {
    return new WorkerInfo(
        open.name(),
        open.stream(),
        open.targetInstances(),
        open.settings(),
        List.copyOf(open.instances()),
        open.heldUntil());
  }

  private static long owner(@Nullable StreamInfo stream) {
    return stream == null ? SYSTEM : stream.id();
  }

  private static @Nullable String nameOf(@Nullable StreamInfo stream) {
    return stream == null ? null : stream.name();
  }

  /**
   * A worker that is locked for the rest of the transaction.
   *
   * @param target in how many processes it runs; 0: suspended
   */
  private record Locked(long id, int target) {}
}
