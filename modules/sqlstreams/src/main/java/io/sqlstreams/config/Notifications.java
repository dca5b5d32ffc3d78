package io.sqlstreams.config;

/**
 * Which notifications (PostgreSQL's {@code LISTEN} and {@code NOTIFY}) a client uses. They only
 * make things quick: without them messages are found by looking, none is missed.
 */
public enum Notifications {
  /**
   * Consumers listen; producers notify after their own commits, and within the caller's
   * transactions. The default.
   *
   * <p>A transaction that notifies can't be prepared ({@code PREPARE TRANSACTION}, XA), and commits
   * of such transactions pass one after the other through a lock of the whole database.
   */
  ALL,
  /**
   * The same, but nothing is notified within the caller's transactions ({@link
   * io.sqlstreams.Producer#in}, {@link io.sqlstreams.SqlStreams#inTransaction}, handlers that
   * produce in their transaction): consumers of other processes find such messages by looking.
   */
  OUTSIDE_TRANSACTIONS,
  /** Neither listens nor notifies. */
  NONE
}
