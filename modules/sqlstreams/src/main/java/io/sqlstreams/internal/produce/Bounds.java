package io.sqlstreams.internal.produce;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** What begins and ends one write, so that it happens whole or not at all. */
enum Bounds {
  /** A transaction of the library's own, on a connection in auto-commit mode. */
  TRANSACTION("BEGIN ISOLATION LEVEL READ COMMITTED", "COMMIT", "ROLLBACK"),

  /**
   * The same for messages that may be there already: whoever holds their keys may be a transaction
   * whose client is gone, and the server may not know it for long.
   */
  AGAIN(
      "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '1s'", "COMMIT", "ROLLBACK"),

  /**
   * A part of the caller's transaction. The name hides one of the same name only while the write
   * lasts.
   */
  SAVEPOINT(
      "SAVEPOINT sqlstreams_produce",
      "RELEASE SAVEPOINT sqlstreams_produce",
      "ROLLBACK TO SAVEPOINT sqlstreams_produce; RELEASE SAVEPOINT sqlstreams_produce");

  private final String begin;
  private final String end;
  private final String undo;

  Bounds(String begin, String end, String undo) {
    this.begin = begin;
    this.end = end;
    this.undo = undo;
  }

  /** Whether it is a transaction of the library's own, which it commits. */
  boolean isTransaction() {
    return this != SAVEPOINT;
  }

  String begin() {
    return begin;
  }

  String end() {
    return end;
  }

  void begin(Connection connection) throws SQLException {
    run(connection, begin);
  }

  void end(Connection connection) throws SQLException {
    run(connection, end);
  }

  void undo(Connection connection) throws SQLException {
    run(connection, undo);
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
