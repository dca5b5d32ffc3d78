package io.sqlstreams.internal.outcome;

import org.jspecify.annotations.Nullable;

/**
 * What becomes of a message after an attempt.
 *
 * @param status its next status in the exception queue; {@link Status#DONE} leaves it
 * @param event what the delivery log says of the attempt; null for nothing
 * @param attempts the number of the attempt that would come next
 * @param delays how many attempts asked for a delay
 * @param waitMicros how long it waits
 * @param error why
 */
public record Verdict(
    Status status,
    @Nullable Event event,
    int attempts,
    int delays,
    long waitMicros,
    @Nullable String error) {
  /** The handler is done with it. */
  public static final Verdict DONE = new Verdict(Status.DONE, null, 0, 0, 0, null);

  /** It was held, but not begun: everything stays as it was. */
  public static Verdict unbegun(int attempts, int delays) {
    return new Verdict(Status.READY, null, attempts, delays, 0, null);
  }

  /** Whether the handler is done with it. */
  public boolean isDone() {
    return status == Status.DONE;
  }

  /** The next status of a message. */
  public enum Status {
    /** Nothing is left to do. */
    DONE("done"),
    /** It is tried again when its wait is over. */
    READY("ready"),
    /** It is given up. */
    DEAD("dead");

    private final String sqlName;

    Status(String sqlName) {
      this.sqlName = sqlName;
    }

    String sqlName() {
      return sqlName;
    }
  }

  /** How an attempt ended, in the words of the delivery log. */
  public enum Event {
    /** The handler threw, took too long, or the payload couldn't be read. */
    FAILURE("failure"),
    /** The handler asked for a delay. */
    DELAYED("delayed"),
    /** The handler gave the message up. */
    KILLED("killed");

    private final String sqlName;

    Event(String sqlName) {
      this.sqlName = sqlName;
    }

    String sqlName() {
      return sqlName;
    }
  }
}
