package io.sqlstreams.internal.outcome;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What becomes of a message after an attempt.
 *
 * @param status its next status; {@link Status#DONE} leaves the exception queue
 * @param event what the delivery log says of the attempt; null for nothing
 * @param attempt the number of the attempt that has ended, or wasn't begun
 * @param attempts the number of the attempt that would come next
 * @param delays how many attempts asked for a delay
 * @param waitMicros how long it waits
 * @param error why
 */
public record Verdict(
    Status status,
    @Nullable Event event,
    int attempt,
    int attempts,
    int delays,
    long waitMicros,
    @Nullable String error) {
  /** The handler is done with it, and nobody wants to know when. */
  public static final Verdict DONE = new Verdict(Status.DONE, null, 0, 0, 0, 0, null);

  /** The handler is done with it. */
  static Verdict done(Tries tries) {
    return next(Status.DONE, Event.SUCCESS, tries, tries.delays(), Duration.ZERO, null);
  }

  /** It was held, but not begun: everything stays as it was. */
  public static Verdict unbegun(Tries tries) {
    return new Verdict(
        Status.READY, null, tries.attempt(), tries.attempt(), tries.delays(), 0, null);
  }

  /**
   * It was held, but it has to wait for others of its key: the attempt comes when its turn is
   * announced, and isn't counted.
   *
   * @param event {@link Event#DEFERRED}; null to leave no trace
   */
  public static Verdict deferred(@Nullable Event event, Tries tries) {
    return new Verdict(
        Status.DEFERRED, event, tries.attempt(), tries.attempt(), tries.delays(), 0, null);
  }

  /** The same for one that isn't known to have to wait any more: a claim finds out. */
  Verdict asking() {
    return new Verdict(Status.READY, event, attempt, attempts, delays, 0, error);
  }

  /** A newer message of its key has made it needless; it is over without having been handled. */
  public static Verdict superseded(Tries tries, String reason) {
    return new Verdict(
        Status.SUPERSEDED,
        Event.SUPERSEDED,
        tries.attempt(),
        tries.attempt(),
        tries.delays(),
        0,
        reason);
  }

  /** The same attempt is made again, at once. */
  static Verdict again(Event event, Tries tries, String error) {
    return new Verdict(
        Status.READY, event, tries.attempt(), tries.attempt(), tries.delays(), 0, error);
  }

  static Verdict retry(Event event, Tries tries, Duration wait, String error) {
    return next(Status.READY, event, tries, tries.delays(), wait, error);
  }

  static Verdict delay(Tries tries, Duration wait, @Nullable String error) {
    return next(Status.READY, Event.DELAYED, tries, tries.delays() + 1, wait, error);
  }

  static Verdict dead(Event event, Tries tries, String error) {
    return next(Status.DEAD, event, tries, tries.delays(), Duration.ZERO, error);
  }

  private static Verdict next(
      Status status, Event event, Tries tries, int delays, Duration wait, @Nullable String error) {
    return new Verdict(
        status, event, tries.attempt(), tries.attempt() + 1, delays, micros(wait), error);
  }

  private static long micros(Duration wait) {
    return wait.toNanos() / 1_000;
  }

  /** Whether the handler is done with it. */
  public boolean isDone() {
    return status == Status.DONE;
  }

  /** Whether nothing more is to come of it, so that others of its key may. */
  public boolean isResolved() {
    return status == Status.DONE || status == Status.DEAD || status == Status.SUPERSEDED;
  }

  /** Whether the message is given up. */
  public boolean isDead() {
    return status == Status.DEAD;
  }

  /** The next status of a message. */
  public enum Status {
    /** Nothing is left to do. */
    DONE("done"),
    /** It is tried again when its wait is over. */
    READY("ready"),
    /** It waits for its key. */
    DEFERRED("deferred"),
    /** It is given up. */
    DEAD("dead"),
    /** A newer message has taken its place. */
    SUPERSEDED("superseded");

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
    /** The handler was done. */
    SUCCESS("success"),
    /** The handler threw, took too long, or the payload couldn't be read. */
    FAILURE("failure"),
    /** The handler asked for a delay. */
    DELAYED("delayed"),
    /** Its key was busy. */
    DEFERRED("deferred"),
    /** A newer message had taken its place. */
    SUPERSEDED("superseded"),
    /** The process was gone. */
    EXPIRED("expired"),
    /** The handler gave the message up, or its error was one that no retry mends. */
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
