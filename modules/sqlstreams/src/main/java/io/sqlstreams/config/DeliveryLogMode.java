package io.sqlstreams.config;

/** What a group writes to the delivery log, the history of its attempts. */
public enum DeliveryLogMode {
  /**
   * Every attempt that didn't end as done, and every message that a newer one of its key has
   * replaced. The default.
   */
  FAILURES("failures"),
  /**
   * Every attempt, and every message that was put aside to wait for others of its key: at least one
   * row for each message. Only the first attempt at a message leaves none when its process is lost.
   * After such a loss more is repeated than in the other modes: also what was done, but has no row
   * yet.
   */
  ALL("all"),
  /** Nothing. The exception queue still holds the last error of each message in it. */
  OFF("off");

  private final String sqlName;

  DeliveryLogMode(String sqlName) {
    this.sqlName = sqlName;
  }

  /** The name under which it is stored. */
  public String sqlName() {
    return sqlName;
  }
}
