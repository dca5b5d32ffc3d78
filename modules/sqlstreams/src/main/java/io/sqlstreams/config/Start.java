package io.sqlstreams.config;

/**
 * Where a new consumer group begins to read. It counts once, when the group is first registered.
 */
public enum Start {
  /** With the oldest message that the stream still holds. The default. */
  BEGINNING,
  /**
   * After the newest message that is visible at registration. A message whose transaction is still
   * open then is delivered if its id is above that one.
   */
  HEAD;

  /** {@link #BEGINNING}. */
  public static Start beginning() {
    return BEGINNING;
  }

  /** {@link #HEAD}. */
  public static Start head() {
    return HEAD;
  }
}
