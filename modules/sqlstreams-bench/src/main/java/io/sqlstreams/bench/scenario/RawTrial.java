package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.Crew;
import io.sqlstreams.bench.load.IdSet;
import io.sqlstreams.bench.load.Quota;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** One round of {@link RawLimit}. */
final class RawTrial implements Trial {
  private final Workbench bench;
  private final String table;
  private final Quota quota;
  private final Written written = new Written();
  private final IdSet read = new IdSet();

  RawTrial(Workbench bench, String table, Quota quota) {
    this.bench = bench;
    this.table = table;
    this.quota = quota;
  }

  @Override
  public Work run() throws Exception {
    try (Connection writing = bench.dataSource().getConnection();
        Connection reading = bench.dataSource().getConnection()) {
      RawWriter writer =
          new RawWriter(
              writing, table, bench.payloadType(), bench.payloads().encoded(), quota, written);
      RawReader reader = new RawReader(reading, table, read, written);
      quota.start();
      long begin = System.nanoTime();
      Crew.run(List.of(writer, reader));
      return new Work(
          written.last(),
          Duration.ofNanos(System.nanoTime() - begin),
          writer.callMicros(),
          Map.of());
    }
  }

  @Override
  public void verify() throws Exception {
    if (read.size() != written.last()) {
      throw new BenchException(
          "%d rows were written, but %d read".formatted(written.last(), read.size()));
    }
    bench.verifyLog(table, written.last());
  }

  @Override
  public void close() throws SQLException {
    bench.execute("DROP TABLE " + table);
  }
}
