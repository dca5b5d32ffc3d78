package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

@SqlStreamsTest
class ConsumeIT {
  TestDatabase database;

  @Test
  void everyMessageIsHandledOnceAndNothingIsLeft() throws Exception {
    TestStream stream = TestStream.register(database);
    int messages = 5_000;
    Map<Long, Integer> handled = new ConcurrentHashMap<>();
    CountDownLatch all = new CountDownLatch(messages);
    try (SqlStreams client = TestStream.client(database)) {
      var handle = client.stream(stream.name());
      try (Consumption running =
          handle
              .group("g")
              .consume(
                  message -> {
                    handled.merge(message.id(), 1, Integer::sum);
                    all.countDown();
                    return Outcome.done();
                  })) {
        var producer = handle.producer();
        for (int i = 0; i < messages / 500; i++) {
          producer.produceAll(
              IntStream.range(0, 500)
                  .mapToObj(n -> Outgoing.of(RawPayload.of("{\"n\":" + n + "}")))
                  .toList());
        }
        all.await();
        running.stop();
        assertThat(running.counters().done()).isEqualTo(messages);
      }
    }
    assertThat(handled).hasSize(messages).allSatisfy((id, times) -> assertThat(times).isOne());
    assertThat(stream.number("SELECT count(*) FROM {lease}")).isZero();
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
  }
}
