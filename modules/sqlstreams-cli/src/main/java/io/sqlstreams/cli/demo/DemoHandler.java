package io.sqlstreams.cli.demo;

import io.sqlstreams.Message;
import io.sqlstreams.MessageHandler;
import io.sqlstreams.Outcome;
import io.sqlstreams.codec.RawPayload;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import tools.jackson.databind.json.JsonMapper;

/**
 * What a worker does with a message: reads the JSON, takes a moment, writes the id down.
 * Thread-safe.
 */
final class DemoHandler implements MessageHandler<RawPayload> {
  /** One message of so many fails at its first attempt, in each group. */
  static final int FAILS_ONE_OF = 200;

  private static final long MOMENT_NANOS = 3_000_000;
  private static final JsonMapper JSON = JsonMapper.shared();

  private final Ledger ledger;
  private final AtomicInteger running = new AtomicInteger();

  DemoHandler(Ledger ledger) {
    this.ledger = ledger;
  }

  @Override
  public Outcome handle(Message<RawPayload> message) throws IOException {
    running.incrementAndGet();
    try {
      JSON.readTree(message.payload().bytes());
      LockSupport.parkNanos(MOMENT_NANOS);
      if (message.attempt() == 0 && message.id() % FAILS_ONE_OF == 0) {
        throw new IllegalStateException("the demo fails this message at its first attempt");
      }
      // last of all: what is in the ledger was handled, though its result may not be recorded yet
      ledger.add(message.id());
      return Outcome.done();
    } finally {
      running.decrementAndGet();
    }
  }

  int running() {
    return running.get();
  }
}
