package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.BatchOutcome;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.OutcomeException;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.SQLException;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever a handler throws or returns, its message ends, and so does nothing else. */
@SqlStreamsTest
@Timeout(value = 90, unit = TimeUnit.SECONDS, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HostileHandlerIT {
  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database, StreamConfig.defaults(), TransactionalIT.QUICK_RETRY);
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void anErrorThatCanNotBeAskedForItsCauseEndsItsMessageInATransaction() {
    List<Long> ids = stream.produce(20);
    long bad = ids.get(5);
    try (Consumption running =
        client.stream(stream.name())
            .group("g")
            .consumeTransactional(
                (message, connection) -> {
                  if (message.id() == bad) {
                    throw message.attempt() == 0 ? new NoCause() : new NoState();
                  }
                  return Outcome.done();
                },
                Consumer.QUICK.withHandlers(1))) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().done()).isEqualTo(19);
      assertThat(running.counters().retried()).isEqualTo(1);
      assertThat(running.counters().leaseLost()).isZero();
    }
    assertThat(dead()).containsExactly(bad);
  }

  @Test
  void aThrownOutcomeThatCanNotBeAskedForIsAFailure() {
    List<Long> ids = stream.produce(20);
    long bad = ids.get(5);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == bad) {
                throw new NoOutcome();
              }
              return Outcome.done();
            },
            Consumer.QUICK.withHandlers(1))) {
      stream.awaitSettled();
      consumer.close();
      assertThat(consumer.counters().done()).isEqualTo(19);
      assertThat(consumer.counters().leaseLost()).isZero();
    }
    assertThat(dead()).containsExactly(bad);
  }

  @Test
  void aListOfOutcomesThatHoldsSomethingElseIsAFailure() {
    List<Long> ids = stream.produce(20);
    long bad = ids.get(5);
    try (Consumption running =
        client.stream(stream.name())
            .group("g")
            .consumeBatches(
                messages ->
                    messages.stream().anyMatch(message -> message.id() == bad)
                        ? BatchOutcome.each(noOutcomes(messages.size()))
                        : BatchOutcome.done(),
                Consumer.QUICK.withHandlers(1).withMaxBatch(1))) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().done()).isEqualTo(19);
      assertThat(running.counters().leaseLost()).isZero();
    }
    assertThat(dead()).containsExactly(bad);
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // what a caller in another language does unawares
  private static List<Outcome> noOutcomes(int size) {
    return (List) Collections.nCopies(size, "done");
  }

  private List<Long> dead() {
    return stream.longs("SELECT message_id FROM {queue} WHERE status = 'dead'");
  }

  static final class NoCause extends RuntimeException {
    private static final long serialVersionUID = 1L;

    @Override
    public synchronized Throwable getCause() {
      throw new IllegalStateException("no cause");
    }
  }

  static final class NoState extends SQLException {
    private static final long serialVersionUID = 1L;

    @Override
    public String getSQLState() {
      throw new IllegalStateException("no state");
    }
  }

  static final class NoOutcome extends OutcomeException {
    private static final long serialVersionUID = 1L;

    NoOutcome() {
      super(Outcome.dead("no"));
    }

    @Override
    public Outcome outcome() {
      throw new IllegalStateException("no outcome");
    }
  }
}
