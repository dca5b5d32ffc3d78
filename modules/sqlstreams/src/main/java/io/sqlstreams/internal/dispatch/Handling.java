package io.sqlstreams.internal.dispatch;

import io.sqlstreams.Message;
import io.sqlstreams.MessageHandler;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.outcome.Policy;
import io.sqlstreams.internal.outcome.Verdict;
import java.util.Map;

/**
 * One attempt at one message: decode, call the handler, judge. Whatever is thrown becomes a
 * verdict. Thread-safe.
 */
final class Handling<T> {
  /** A message that can't be handed to the handler, and why. */
  static final class UnreadableException extends Exception {
    private static final long serialVersionUID = 1L;

    UnreadableException(String reason) {
      super(reason);
    }

    String reason() {
      return String.valueOf(getMessage());
    }
  }

  private final PayloadCodec<T> codec;
  private final boolean anyVersion;
  private final Policies policies;
  private final Judge judge;
  private final Counters counters;

  /**
   * @param anyVersion whether the codec takes messages of every schema version, not of its own
   *     alone
   */
  Handling(PayloadCodec<T> codec, boolean anyVersion, SessionParts parts) {
    this.codec = codec;
    this.anyVersion = anyVersion;
    this.policies = parts.policies();
    this.judge = parts.judge();
    this.counters = parts.counters();
  }

  Judge judge() {
    return judge;
  }

  /** What holds for this delivery from now on until it ends. */
  Policy policy(Delivery delivery) {
    StoredMessage stored = delivery.message();
    return stored == null ? policies.ofGroup() : policies.of(stored.optionsJson());
  }

  Verdict handle(Delivery delivery, Policy policy, MessageHandler<T> handler) {
    Message<T> message;
    try {
      message = read(delivery);
    } catch (UnreadableException e) {
      return judge.failed(e.reason(), policy, delivery.tries());
    }
    try {
      return judge.returned(handler.handle(message), policy, delivery.tries());
    } catch (Throwable e) {
      return judge.threw(e, policy, delivery.tries());
    }
  }

  /** The message as the handler sees it. */
  Message<T> read(Delivery delivery) throws UnreadableException {
    StoredMessage stored = delivery.message();
    if (stored == null) {
      throw new UnreadableException("the log holds this message no more");
    }
    if (!anyVersion && stored.schemaVersion() != codec.schemaVersion()) {
      counters.undecodable.increment();
      throw new UnreadableException(
          "the payload can't be read: it has schema version "
              + stored.schemaVersion()
              + ", and this consumer reads version "
              + codec.schemaVersion());
    }
    try {
      return decode(delivery, stored);
    } catch (Throwable e) {
      counters.undecodable.increment();
      // the kind alone: a parser's message quotes the payload
      throw new UnreadableException("the payload can't be read: " + e.getClass().getName());
    }
  }

  @SuppressWarnings("NullAway") // a tombstone's payload is null, see Message
  private Received<T> decode(Delivery delivery, StoredMessage stored) throws Exception {
    byte[] payload = stored.payload();
    Map<String, String> headers = stored.headers();
    if (stored.isTombstone()) {
      return new Received<>(delivery, stored, null, headers);
    }
    if (payload == null) {
      throw new IllegalArgumentException("the message has no payload");
    }
    return new Received<>(delivery, stored, codec.decode(payload), headers);
  }

  /** The verdict on an attempt whose handler ignored the end of its time. */
  Verdict abandoned(Delivery delivery, Policy policy) {
    counters.timedOut.increment();
    return judge.failed(tookLonger(policy), policy, delivery.tries());
  }

  /** The handler was interrupted. If it returned an outcome all the same, that counts. */
  Verdict late(Delivery delivery, Policy policy, Verdict verdict) {
    counters.timedOut.increment();
    return verdict.event() == Verdict.Event.FAILURE
        ? judge.failed(tookLonger(policy) + ", then: " + verdict.error(), policy, delivery.tries())
        : verdict;
  }

  private static String tookLonger(Policy policy) {
    return "the handler took longer than " + policy.timeout();
  }
}
