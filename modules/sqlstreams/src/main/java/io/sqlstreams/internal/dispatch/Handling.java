package io.sqlstreams.internal.dispatch;

import io.sqlstreams.MessageHandler;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.outcome.ErrorText;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Verdict;
import java.util.Map;

/**
 * One attempt at one message: decode, call the handler, judge. Whatever is thrown becomes a
 * verdict. Thread-safe.
 */
final class Handling<T> {
  private final PayloadCodec<T> codec;
  private final boolean anyVersion;
  private final MessageHandler<T> handler;
  private final Judge judge;
  private final Counters counters;

  /**
   * @param anyVersion whether the codec takes messages of every schema version, not of its own
   *     alone
   */
  Handling(
      PayloadCodec<T> codec,
      boolean anyVersion,
      MessageHandler<T> handler,
      Judge judge,
      Counters counters) {
    this.codec = codec;
    this.anyVersion = anyVersion;
    this.handler = handler;
    this.judge = judge;
    this.counters = counters;
  }

  Verdict handle(Delivery delivery) {
    StoredMessage stored = delivery.message();
    if (stored == null) {
      return failed(delivery, "the log holds this message no more");
    }
    if (!anyVersion && stored.schemaVersion() != codec.schemaVersion()) {
      counters.undecodable.increment();
      return failed(
          delivery,
          "the payload can't be read: it has schema version "
              + stored.schemaVersion()
              + ", and this consumer reads version "
              + codec.schemaVersion());
    }
    Received<T> message;
    try {
      message = decode(delivery, stored);
    } catch (Throwable e) {
      counters.undecodable.increment();
      // the kind alone: a parser's message quotes the payload
      return failed(delivery, "the payload can't be read: " + e.getClass().getName());
    }
    try {
      return judge.returned(handler.handle(message), delivery.attempt(), delivery.delays());
    } catch (Throwable e) {
      return failed(delivery, ErrorText.of(e));
    }
  }

  private Received<T> decode(Delivery delivery, StoredMessage stored) throws Exception {
    byte[] payload = stored.payload();
    if (payload == null) {
      throw new IllegalArgumentException("the message has no payload");
    }
    Map<String, String> headers = stored.headers();
    return new Received<>(delivery, stored, codec.decode(payload), headers);
  }

  /** The verdict on an attempt that failed for this reason. */
  Verdict failed(Delivery delivery, String reason) {
    return judge.failed(reason, delivery.attempt(), delivery.delays());
  }
}
