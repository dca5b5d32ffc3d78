package io.sqlstreams.bench.scenario;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Payloads;
import io.sqlstreams.bench.load.RoundSize;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** A wrong result is found: a check that can't fail proves nothing. */
@SqlStreamsTest
class WorkbenchIT {
  TestDatabase database;

  @Test
  void missingRowsAndWrongSizesAreFound() throws Exception {
    try (SqlStreams client =
        SqlStreams.builder(database.dataSource()).schema(database.schema()).build()) {
      Workbench bench = bench(client);
      Cargo<?> cargo = Cargo.register(bench, "checked", PayloadForm.TYPED);
      Producing<?> producing = new Producing<>(cargo, RoundSize.of(5).quota(5));
      producing.inBatches();
      String log = bench.logOf(cargo.stream());

      assertThatCode(() -> bench.verifyLog(log, 5)).doesNotThrowAnyException();
      assertThatThrownBy(() -> bench.verifyLog(log, 6))
          .isInstanceOf(BenchException.class)
          .hasMessage("6 messages were produced, but the log holds 5");

      client.stream("checked").producer().produce(RawPayload.of("1"));
      assertThatThrownBy(() -> bench.verifyLog(log, 6))
          .isInstanceOf(BenchException.class)
          .hasMessage("1 payloads are not of 250 bytes");
    }
  }

  private Workbench bench(SqlStreams client) {
    return new Workbench(
        database.dataSource(),
        database.schema(),
        client,
        Payloads.of(250),
        PayloadType.JSON,
        ConsumeOptions.defaults(),
        new AtomicLong());
  }
}
