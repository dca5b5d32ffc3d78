package io.sqlstreams.internal.dispatch;

import io.sqlstreams.Message;
import io.sqlstreams.MessageHandler;
import io.sqlstreams.internal.codec.PayloadReader;
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

    private final boolean isFinal;

    /**
     * @param isFinal whether no other process of the group can be expected to read it
     */
    UnreadableException(String reason, boolean isFinal) {
      super(reason);
      this.isFinal = isFinal;
    }

    String reason() {
      return String.valueOf(getMessage());
    }
  }

  private final PayloadReader<T> reader;
  private final Policies policies;
  private final Judge judge;
  private final Counters counters;

  Handling(PayloadReader<T> reader, SessionParts parts) {
    this.reader = reader;
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
      return unreadable(e, delivery, policy);
    }
    try {
      return judge.returned(handler.handle(message), policy, delivery.tries());
    } catch (Throwable e) {
      return judge.threw(e, policy, delivery.tries());
    }
  }

  /** The verdict on a message that can't be handed to the handler. */
  Verdict unreadable(UnreadableException error, Delivery delivery, Policy policy) {
    return error.isFinal
        ? judge.unreadable(error.reason(), delivery.tries())
        : judge.failed(error.reason(), policy, delivery.tries());
  }

  /** The message as the handler sees it. */
  Message<T> read(Delivery delivery) throws UnreadableException {
    StoredMessage stored = delivery.message();
    if (stored == null) {
      throw new UnreadableException("the log holds this message no more", false);
    }
    if (!reader.reads(stored.schemaVersion())) {
      counters.undecodable.increment();
      throw otherVersion(delivery, stored.schemaVersion());
    }
    try {
      return decode(delivery, stored);
    } catch (Throwable e) {
      counters.undecodable.increment();
      // the kind alone: a parser's message quotes the payload
      throw new UnreadableException("the payload can't be read: " + e.getClass().getName(), false);
    }
  }

  /** As long as the group declares the version, a process may come that reads it. */
  private UnreadableException otherVersion(Delivery delivery, int version) {
    String reason =
        "the payload can't be read: it has schema version "
            + version
            + ", and this consumer reads "
            + reader.told();
    return delivery.isOfTheGroup()
        ? new UnreadableException(reason, false)
        : new UnreadableException(
            reason
                + "; the group has declared version "
                + version
                + " no more: register it with a handle that reads the version, such as one with an upgrade from it,"
                + " then redrive this message",
            true);
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
    return new Received<>(
        delivery, stored, reader.decode(stored.schemaVersion(), payload), headers);
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
