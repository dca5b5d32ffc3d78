package io.sqlstreams.config;

/**
 * How the messages of one key are handed to the handlers of a group. Other keys never wait, and a
 * message without a key is always {@link #PARALLEL}. What holds for a message is the group's {@link
 * GroupConfig#concurrencyOverride}, else the message's own wish ({@link
 * ProduceOptions#concurrency}), else the group's {@link GroupConfig#concurrency}.
 */
public enum Concurrency {
  /** Without regard to the key. The default. */
  PARALLEL("parallel"),
  /** Never two at once, in no order: one that waits for a retry doesn't hold up the others. */
  EXCLUSIVE("exclusive"),
  /**
   * In the order of the message ids, each after every earlier one of the key is done or dead,
   * through retries, delays, crashes and all processes of the group. A dead message is passed;
   * after a redrive it comes again, behind those that have passed it, but never beside them. As
   * after any crash, messages may come again; then those of a key come again in order. A compacted
   * message in a group that orders is handled as {@link #EXCLUSIVE}, since it may be superseded by
   * a later one.
   */
  ORDERED("ordered");

  private final String sqlName;

  Concurrency(String sqlName) {
    this.sqlName = sqlName;
  }

  /** The name under which it is stored. */
  public String sqlName() {
    return sqlName;
  }
}
