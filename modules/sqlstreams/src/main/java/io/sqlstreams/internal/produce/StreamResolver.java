package io.sqlstreams.internal.produce;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.error.StreamNotFoundException;
import java.sql.Connection;
import java.sql.SQLException;

/** Finds a registered stream by its name. */
@FunctionalInterface
public interface StreamResolver {
  /**
   * The stream of this name, read on a connection of the library's own.
   *
   * @throws StreamNotFoundException when there is none
   */
  StreamInfo require(String name);

  /**
   * The stream of this name, read on the caller's connection, so that a caller who holds the last
   * connection of a pool doesn't wait for another one. The reader may see an old snapshot.
   *
   * @throws StreamNotFoundException when the connection's transaction sees none
   */
  default StreamInfo require(Connection connection, String name) throws SQLException {
    return require(name);
  }
}
