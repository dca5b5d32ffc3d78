package io.sqlstreams.internal.sql;

import java.sql.Connection;
import java.sql.SQLException;

/** What is done with a connection. */
@FunctionalInterface
public interface SqlWork<R> {
  R with(Connection connection) throws SQLException;
}
