package io.sqlstreams.bench.meter;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SqlStreamsTest
class MetersIT {
  TestDatabase database;

  @BeforeEach
  void countStatements() throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      try (ResultSet row = statement.executeQuery("SHOW shared_preload_libraries")) {
        row.next();
        assumeThat(row.getString(1)).contains("pg_stat_statements");
      }
      statement.execute("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    }
  }

  @Test
  void measuresWhatTheWorkDid() throws Exception {
    Meters.Measured<Integer> measured =
        new Meters(database.dataSource()).measure(this::writeAMegabyte);

    assertThat(measured.result()).isEqualTo(3);
    Usage usage = measured.usage();
    assertThat(usage.walBytes()).isGreaterThan(1 << 20);
    assertThat(usage.statements())
        .hasEntrySatisfying("meters_it", use -> assertThat(use.calls()).isEqualTo(3))
        .noneSatisfy((name, use) -> assertThat(name).startsWith("bench_"));
    assertThat(usage.statementCalls()).isGreaterThanOrEqualTo(5);
    assertThat(usage.jvmCpuSeconds()).isPositive();
  }

  private int writeAMegabyte() throws SQLException {
    String schema = database.schema();
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA " + schema);
      statement.execute("CREATE TABLE " + schema + ".filled (text text)");
      int rows = 0;
      for (int i = 0; i < 3; i++) {
        rows +=
            statement.executeUpdate(
                "INSERT /* meters_it */ INTO %s.filled SELECT string_agg(md5(n::text), '') FROM generate_series(1, 16000) AS n"
                    .formatted(schema));
      }
      return rows;
    }
  }
}
