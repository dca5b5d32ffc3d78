package io.sqlstreams.bench.scenario;

import io.sqlstreams.StreamHandle;
import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Quota;
import io.sqlstreams.config.StreamConfig;

/**
 * What this server, this driver and these tables can do at best: one connection writes by binary
 * COPY, another reads ranges, and nothing else happens. The table is a copy of a message log, so
 * the two can't drift apart.
 */
record RawLimit() implements Scenario {
  static final String NAME = "raw-limit";

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String label() {
    return NAME;
  }

  @Override
  public String description() {
    return "1 connection writes by binary COPY of "
        + Producing.BATCH
        + " rows, 1 reads ranges of "
        + RawReader.RANGE
        + " ids, nothing else";
  }

  @Override
  public PayloadForm form() {
    return PayloadForm.RAW;
  }

  @Override
  public long messages() {
    return 300_000;
  }

  @Override
  public Trial prepare(Workbench bench, Quota quota) throws Exception {
    String name = bench.newName(this);
    StreamHandle<?> model = bench.client().stream(name);
    model.register(bench.streamConfig());
    String table = bench.schema() + ".raw_" + name.substring(name.lastIndexOf('-') + 1);
    bench.execute(
        "CREATE TABLE %s (LIKE %s INCLUDING ALL EXCLUDING IDENTITY) PARTITION BY RANGE (id)"
            .formatted(table, bench.logOf(model)));
    // the copied default would keep the model's sequence from going; the ids are ours anyway
    bench.execute("ALTER TABLE %s ALTER COLUMN id DROP DEFAULT".formatted(table));
    model.destroy();
    createPartitions(bench, table, quota.most());
    return new RawTrial(bench, table, quota);
  }

  private static void createPartitions(Workbench bench, String table, long messages)
      throws Exception {
    long size = StreamConfig.DEFAULT_PARTITION_SIZE;
    for (long number = 0; number * size < messages; number++) {
      bench.execute(
          "CREATE TABLE %s_%d PARTITION OF %s FOR VALUES FROM (%d) TO (%d)"
              .formatted(table, number, table, number * size + 1, (number + 1) * size + 1));
    }
  }
}
