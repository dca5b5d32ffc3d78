package io.sqlstreams.bench.meter;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Measures what work costs. One piece of work at a time. */
public final class Meters {
  private static final String WAL =
      """
      SELECT /* bench_wal */ (pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint AS bytes
      """;

  private static final String HAS_STATEMENTS =
      """
      SELECT /* bench_has_statements */
             EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_stat_statements')
         AND current_setting('shared_preload_libraries') LIKE '%pg_stat_statements%' AS counted,
         pg_backend_pid() AS backend
      """;

  /**
   * A statement's name is the comment before or behind its first word, else its beginning without
   * the names of schema and stream. Our own are left out.
   */
  private static final String STATEMENTS =
      """
      SELECT /* bench_statements */
             coalesce(
               substring(query FROM '^(?:--|\\w+ /\\*) (\\w+)'),
               left(regexp_replace(regexp_replace(query, '\\s+', ' ', 'g'), '"?bench_\\w+"?\\.|_\\d+', '', 'g'), 60)) AS name,
             sum(calls)::bigint AS calls,
             sum(total_exec_time) AS milliseconds
      FROM pg_stat_statements
      WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND query NOT LIKE '%/* bench_%'
      GROUP BY name
      """;

  private final DataSource dataSource;
  private final boolean countsStatements;
  private final @Nullable Long postmaster;

  /** Finds out what can be measured. */
  public Meters(DataSource dataSource) throws SQLException {
    this.dataSource = dataSource;
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(HAS_STATEMENTS)) {
      row.next();
      this.countsStatements = row.getBoolean("counted");
      this.postmaster = ProcessorTime.postmasterOf(row.getLong("backend"));
    }
  }

  /**
   * Does the work and measures it.
   *
   * @throws Exception what the work threw
   */
  public <R> Measured<R> measure(Callable<R> work) throws Exception {
    Reading before = read();
    R result = work.call();
    return new Measured<>(result, Usage.between(before, read()));
  }

  private Reading read() throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      Map<String, StatementUse> statements = countsStatements ? statements(statement) : null;
      try (ResultSet row = statement.executeQuery(WAL)) {
        row.next();
        return new Reading(row.getLong("bytes"), statements, ProcessorTime.now(postmaster));
      }
    }
  }

  private static Map<String, StatementUse> statements(Statement statement) throws SQLException {
    Map<String, StatementUse> statements = new TreeMap<>();
    try (ResultSet row = statement.executeQuery(STATEMENTS)) {
      while (row.next()) {
        statements.put(
            row.getString("name"),
            new StatementUse(row.getLong("calls"), row.getDouble("milliseconds")));
      }
    }
    return statements;
  }

  /**
   * A result and what it cost.
   *
   * @param result what the work returned
   * @param usage what it used
   */
  public record Measured<R>(R result, Usage usage) {}
}
