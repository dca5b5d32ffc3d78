package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.IdSet;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.Callable;

/** Reads range after range behind the writer, the last one as long as it is. */
final class RawReader implements Callable<Void> {
  /** How many ids a range spans. */
  static final int RANGE = 4_000;

  private final Connection connection;
  private final String query;
  private final IdSet read;
  private final Written written;

  RawReader(Connection connection, String table, IdSet read, Written written) {
    this.connection = connection;
    this.query =
        """
        SELECT /* raw_read */ id, created_at, schema_version, routing_key, message_key, payload, headers
        FROM %s
        WHERE id > ? AND id <= ?
        ORDER BY id
        """
            .formatted(table);
    this.read = read;
    this.written = written;
  }

  @Override
  public Void call() throws SQLException, InterruptedException {
    try (PreparedStatement statement = connection.prepareStatement(query)) {
      long low = 0;
      while (true) {
        long high = Math.min(low + RANGE, written.await(low + RANGE));
        if (high == low) {
          return null;
        }
        statement.setLong(1, low);
        statement.setLong(2, high);
        try (ResultSet row = statement.executeQuery()) {
          while (row.next()) {
            if (row.getBytes("payload") == null) {
              throw new BenchException("row " + row.getLong("id") + " has no payload");
            }
            read.add(row.getLong("id"));
          }
        }
        low = high;
      }
    }
  }
}
