package io.sqlstreams.lab;

/**
 * What a scripted handler does in one attempt.
 *
 * @param kind the kind
 * @param millis how long a delay is; 0 for the other kinds
 */
public record Step(Kind kind, long millis) {
  /** The kinds of steps. */
  public enum Kind {
    /** Returns done. */
    DONE,
    /** Throws. */
    FAIL,
    /** Throws an error that the consumer declares as not retryable, as the cause of another. */
    FATAL,
    /** Asks for a delay. */
    DELAY,
    /** Gives the message up. */
    DEAD,
    /** Throws a failure as an outcome, deep inside other exceptions. */
    DEEP_FAIL,
    /** Throws a delay as an outcome, deep inside other exceptions. */
    DEEP_DELAY,
    /** Throws a dead letter as an outcome, deep inside other exceptions. */
    DEEP_DEAD,
    /** Returns null. */
    NULL,
    /** Throws an {@link Error}. */
    ERROR,
    /** Takes longer than its time, and gives up when it is told so. */
    SLEEP,
    /** Takes longer than its time, and ignores that it is told so. */
    IGNORE,
    /** Ends the process. */
    HALT
  }

  /** A step without a duration. */
  public static Step of(Kind kind) {
    return new Step(kind, 0);
  }

  /** Whether it only ends when the time is over. */
  public boolean isSlow() {
    return kind == Kind.SLEEP || kind == Kind.IGNORE;
  }

  /** Whether it asks for a delay. */
  public boolean isDelay() {
    return kind == Kind.DELAY || kind == Kind.DEEP_DELAY;
  }

  /** What the error of this step says in this attempt. */
  public String words(int attempt) {
    return "scripted " + kind + " in attempt " + attempt;
  }

  static Step parse(String text) {
    String[] parts = text.split(":", -1);
    return new Step(Kind.valueOf(parts[0]), Long.parseLong(parts[1]));
  }

  @Override
  public String toString() {
    return kind + ":" + millis;
  }
}
