package io.sqlstreams.internal.produce;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.ds.PGSimpleDataSource;

/** No connection can be had from it. */
@SuppressWarnings("serial")
final class UnreachableDataSource extends PGSimpleDataSource {
  private static final long serialVersionUID = 1L;

  @Override
  public Connection getConnection() throws SQLException {
    throw new SQLException("nobody answers", "08001");
  }
}
