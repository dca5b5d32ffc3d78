package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.log.StoredMessage;
import org.jspecify.annotations.Nullable;

/** One message on its way to a handler. Thread-safe. */
final class Delivery {
  private final Work work;
  private final int index;
  private final long id;
  private final @Nullable String key;
  private final int bytes;
  private final int attempt;
  private final int delays;
  private volatile @Nullable StoredMessage message;
  private volatile boolean expired;

  /**
   * @param index its place in its work
   */
  Delivery(
      Work work, int index, long id, @Nullable StoredMessage message, int attempt, int delays) {
    this.work = work;
    this.index = index;
    this.id = id;
    this.key = message == null ? null : message.messageKey();
    this.bytes = message == null ? 0 : message.bytes();
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

  @Nullable String key() {
    return key;
  }

  /** The message; null when the log holds it no more, or when it isn't needed any more. */
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
    return bytes;
  }

  /** It has ended: only its result is kept until that is recorded. */
  void release() {
    message = null;
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
