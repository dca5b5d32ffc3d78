package io.sqlstreams.bench.scenario;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.Payloads;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.StreamConfig;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicLong;
import javax.sql.DataSource;

/**
 * What the scenarios of a run work with. Thread-safe.
 *
 * @param dataSource connections to the server
 * @param schema the schema of the installation; the tables of the raw limit are there too
 * @param client a client of it, which may destroy
 * @param payloads what is sent
 * @param payloadType the type of the payload column
 * @param consuming how is consumed
 * @param names the number of the next stream
 */
public record Workbench(
    DataSource dataSource,
    String schema,
    SqlStreams client,
    Payloads payloads,
    PayloadType payloadType,
    ConsumeOptions consuming,
    AtomicLong names) {

  /** A name that no stream of this run has. */
  String newName(Scenario scenario) {
    return scenario.name() + "-" + names.incrementAndGet();
  }

  /** What each stream is registered with. */
  StreamConfig streamConfig() {
    return StreamConfig.defaults().withPayloadType(payloadType);
  }

  /** The name of the table that holds the stream's messages. */
  String logOf(StreamHandle<?> stream) {
    return schema + ".message_log_" + stream.get().orElseThrow().id();
  }

  /** Runs one statement. */
  void execute(String sql) throws SQLException {
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /**
   * Compares what a log holds with what was produced.
   *
   * @throws BenchException when rows are missing or too many, or payloads have another size than
   *     they should
   */
  void verifyLog(String log, long messages) throws SQLException {
    // jsonb drops the spaces of the text
    boolean exact = payloadType != PayloadType.JSONB;
    String payload = payloadType == PayloadType.BYTEA ? "payload" : "payload::text";
    String sql =
        """
        SELECT /* bench_verify */
               count(*) AS messages,
               count(*) FILTER (WHERE octet_length(%s) <> %d) AS other_size
        FROM %s
        """
            .formatted(payload, payloads.bytes(), log);
    try (Connection connection = dataSource.getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      if (row.getLong("messages") != messages) {
        throw new BenchException(
            messages + " messages were produced, but the log holds " + row.getLong("messages"));
      }
      if (exact && row.getLong("other_size") > 0) {
        throw new BenchException(
            row.getLong("other_size") + " payloads are not of " + payloads.bytes() + " bytes");
      }
    }
  }
}
