package io.sqlstreams.internal.sql;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/**
 * A statement that is ready to be prepared, with the names of its parameters in order. Immutable.
 */
public final class Statement {
  private final String sql;
  private final List<String> parameters;

  Statement(String sql, List<String> parameters) {
    this.sql = sql;
    this.parameters = List.copyOf(parameters);
  }

  /** The text that goes to the database. */
  public String sql() {
    return sql;
  }

  /** The names of the parameters, in the order of their places in the text. */
  public List<String> parameters() {
    return parameters;
  }

  /** Prepares a call on this connection; close it. */
  public Call on(Connection connection) throws SQLException {
    PreparedStatement prepared = connection.prepareStatement(sql);
    // whatever the connection's default is: rows that come in pieces would need the transaction
    // that has ended by then
    prepared.setFetchSize(0);
    return new Call(prepared, parameters);
  }

  /**
   * Executes it on this connection without parameters or a result, as a script of one or more
   * commands.
   */
  public void run(Connection connection) throws SQLException {
    try (java.sql.Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
