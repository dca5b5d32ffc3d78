package io.sqlstreams.config;

/** What the exception queue says of a message. */
public enum ExceptionStatus {
  /** It waits for its next attempt. */
  READY("ready"),
  /** A handler is at it, or is about to be. */
  INFLIGHT("inflight"),
  /** It waits for an earlier message of its key. */
  DEFERRED("deferred"),
  /** It was given up, and stays so until somebody redrives or discards it. */
  DEAD("dead"),
  /** A newer message of its key has taken its place. */
  SUPERSEDED("superseded");

  private final String sqlName;

  ExceptionStatus(String sqlName) {
    this.sqlName = sqlName;
  }

  /** The name under which it is stored. */
  public String sqlName() {
    return sqlName;
  }
}
