package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.log.StoredMessage;
import org.jspecify.annotations.Nullable;

/** One message on its way to a handler. Thread-safe. */
final class Delivery {
  private final Work work;
  private final int index;
  private final long id;
  private final @Nullable StoredMessage message;
  private final int attempt;
  private final int delays;
  private volatile boolean expired;

  /** @param index its place in its work */
  Delivery(
      Work work, int index, long id, @Nullable StoredMessage message, int attempt, int delays) {
    this.work = work;
    this.index = index;
    this.id = id;
    this.message = message;
    this.attempt = attempt;
    this.delays = delays;
  }

  Work work() {
    return work;
  }

  int index() {
    return index;
  }

  long id() {
    return id;
  }

  /** The message; null when the log holds it no more. */
  @Nullable StoredMessage message() {
    return message;
  }

  int attempt() {
    return attempt;
  }

  int delays() {
    return delays;
  }

  int bytes() {
    return message == null ? 0 : message.bytes();
  }

  /** Its time is over. */
  void expire() {
    expired = true;
  }

  /** Whether its result won't count. */
  boolean cancelled() {
    return expired || work.isLost();
  }
}
