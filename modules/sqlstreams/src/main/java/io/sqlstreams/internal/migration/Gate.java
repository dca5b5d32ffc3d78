package io.sqlstreams.internal.migration;

import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.error.VersionMismatchException;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Lets this build work on tables that it understands, and on no others. What passed is remembered
 * for {@link #REMEMBERED}, so that looking something up costs no more than before. Thread-safe.
 */
public final class Gate {
  /** The same as for what producers know of their stream. */
  static final Duration REMEMBERED = Duration.ofSeconds(30);

  /** Beyond that it begins anew: streams that are gone leave no trace for ever. */
  private static final int MOST = 10_000;

  private final Scope system;
  private final Steps steps;

  /** When each passed, by its stream's id; the control plane's is 0. */
  private final Map<Long, Long> passed = new ConcurrentHashMap<>();

  /**
   * @param system the installation
   * @param steps what this build knows
   */
  public Gate(Scope system, Steps steps) {
    this.system = system;
    this.steps = steps;
  }

  /**
   * Before anything else is read from the control plane: what this build asks for may not be there.
   *
   * @throws VersionMismatchException when this build can't work on the control plane
   */
  public void requireSystem(Connection connection) throws SQLException {
    require(
        connection,
        system,
        MigrationScope.SYSTEM,
        "the installation in schema \"" + system.schema() + "\"");
  }

  /**
   * @param name the stream's name, for messages
   * @throws VersionMismatchException when this build can't work on its family
   */
  public void requireStream(Connection connection, long id, String name) throws SQLException {
    require(connection, system.stream(id), MigrationScope.STREAM, "stream \"" + name + "\"");
  }

  /** Looks again next time. */
  void forget() {
    passed.clear();
  }

  private void require(Connection connection, Scope tables, MigrationScope scope, String subject)
      throws SQLException {
    Long at = passed.get(tables.streamId());
    if (at != null && System.nanoTime() - at < REMEMBERED.toNanos()) {
      return;
    }
    Version.read(connection, tables).require(subject, steps.newest(scope));
    if (passed.size() >= MOST) {
      passed.clear();
    }
    passed.put(tables.streamId(), System.nanoTime());
  }
}
