package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.outcome.Tries;
import io.sqlstreams.internal.outcome.Verdict;
import org.jspecify.annotations.Nullable;

/** One message on its way to a handler. Thread-safe, but for what {@link KeyLines} keeps here. */
final class Delivery {
  private final Work work;
  private final int index;
  private final long id;
  private final @Nullable String key;
  private final Concurrency concurrency;
  private final int bytes;
  private final Tries tries;
  private final boolean isOfTheGroup;
  private volatile @Nullable StoredMessage message;
  private volatile @Nullable Verdict given;
  private volatile boolean expired;
  private boolean inTurn;

  /**
   * @param index its place in its work
   * @param key its message key
   * @param concurrency how it is handed out among those of its key
   * @param isOfTheGroup see {@link #isOfTheGroup}
   */
  Delivery(
      Work work,
      int index,
      long id,
      @Nullable String key,
      Concurrency concurrency,
      @Nullable StoredMessage message,
      Tries tries,
      boolean isOfTheGroup) {
    this.work = work;
    this.index = index;
    this.id = id;
    this.key = key;
    this.concurrency = concurrency;
    this.bytes = message == null ? 0 : message.bytes();
    this.message = message;
    this.tries = tries;
    this.isOfTheGroup = isOfTheGroup;
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

  /** How it is handed out among those of its key. */
  Concurrency concurrency() {
    return concurrency;
  }

  /** The message; null when the log holds it no more, or when it isn't needed any more. */
  @Nullable StoredMessage message() {
    return message;
  }

  Tries tries() {
    return tries;
  }

  /** Whether the group declared the message's schema version when it was claimed. */
  boolean isOfTheGroup() {
    return isOfTheGroup;
  }

  /**
   * Its attempt has ended in this way, but that couldn't be recorded yet; the handler isn't called
   * again.
   */
  void give(Verdict verdict) {
    given = verdict;
  }

  /** See {@link #give}; null when the handler is still to be called. */
  @Nullable Verdict given() {
    return given;
  }

  /** See {@link KeyLines}, which keeps this. */
  boolean isInTurn() {
    return inTurn;
  }

  void setInTurn(boolean inTurn) {
    this.inTurn = inTurn;
  }

  int bytes() {
    return bytes;
  }

  /** It has ended: only its result is kept until that is recorded. */
  void release() {
    message = null;
  }

  /** The handler is about to be called, perhaps once more after a roll-back: it has its time. */
  void begin() {
    expired = false;
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
