package io.sqlstreams;

import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.NotInstalledException;

/**
 * The background work that an installation needs, as far as this process does it: partitions ahead,
 * retention, cursors, schedules. A client that consumes does it by itself, from its first
 * consumption until it is closed, unless {@link SqlStreamsBuilder#upkeep} says otherwise; where no
 * process consumes, one or more have to {@linkplain #run run} it. All processes share the workers
 * among them: each worker is done by one at a time, and moves to another within 30 s when its
 * process dies, at once when that stops in order. Thread-safe.
 */
public interface Manager {
  /**
   * Does the installation's background work from now on, on threads of its own, until the answer is
   * stopped or the client is closed. Returns at once. May be called more than once, and while the
   * client consumes: there is one manager, which ends with the last of them. A fault of the
   * database doesn't end it; it waits and goes on.
   *
   * @throws NotInstalledException when the schema holds no installation
   * @throws ClosedException when the client is closed
   * @throws DatabaseException when the database can't be reached or refuses
   */
  Upkeep run();
}
