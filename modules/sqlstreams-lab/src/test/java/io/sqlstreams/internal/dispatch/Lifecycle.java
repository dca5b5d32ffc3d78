package io.sqlstreams.internal.dispatch;

import io.sqlstreams.lab.Script;
import io.sqlstreams.lab.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The model: what may become of one message in one group. It is told what the delivery log says,
 * row by row, and refuses what the script and the policy don't give.
 *
 * <p>A message starts in a range of the log. Attempts in a range whose process is gone leave
 * nothing: the range is taken over, and after too many times its messages are put into the
 * exception queue one by one, as suspects. Whatever isn't done goes to the exception queue as well.
 * There an attempt whose process is gone is an event: the first one makes the message a suspect and
 * counts for nothing, one of a suspect counts as a failure.
 */
final class Lifecycle {
  /**
   * A row of the exception queue as it must be after an event.
   *
   * @param state what it holds
   * @param pause how long it waits from then on
   */
  record Expected(QueueChange.State state, Granted.Wait pause) {}

  private final Script script;
  private final Granted granted;
  private final List<Expected> queue = new ArrayList<>();
  private int attempt;
  private int delays;
  private boolean queued;
  private boolean suspect;
  private @Nullable String end;
  private @Nullable String lastError;

  Lifecycle(Script script, Granted granted) {
    this.script = script;
    this.granted = granted;
  }

  /** Its range was dissolved before any result was recorded. */
  void quarantined() {
    require(!queued && end == null && attempt == 0, "quarantined, though it had left its range");
    suspect = true;
    enqueue("ready", Granted.Wait.NONE);
  }

  /** An attempt has ended. */
  void delivered(Delivered row) {
    require(end == null, row + " after its end as " + end);
    require(row.attempt() == attempt, row + " where attempt " + attempt + " was due");
    if (row.event().equals("expired")) {
      expired(row);
    } else if (isOverTime(row)) {
      failed();
    } else {
      acted(row, script.at(attempt));
    }
    if (row.error() != null) {
      lastError = row.error();
    }
  }

  /** Nothing happens any more. */
  void ended() {
    require(end != null, "it is lost: attempt " + attempt + " never came");
  }

  /** Whether the handler was done with it in the end. */
  boolean isDone() {
    return "done".equals(end);
  }

  /** The number of attempts that are over. */
  int attempts() {
    return attempt;
  }

  /** What the exception queue must have held, in order. */
  List<Expected> queue() {
    return queue;
  }

  /** The row that must be left in the exception queue; null for none. */
  @Nullable String left() {
    return isDone() ? null : end + "|" + attempt + "|" + delays + "|" + lastError;
  }

  private void expired(Delivered row) {
    require(queued, row + " in a range, which leaves no row");
    if (suspect) {
      fail(true);
    } else {
      suspect = true;
      enqueue("ready", Granted.Wait.NONE);
    }
  }

  /** Whatever a handler does in the end: when its time is over, that is what counts. */
  private boolean isOverTime(Delivered row) {
    String error = row.error();
    return row.event().equals("failure")
        && error != null
        && error.startsWith("the handler took longer than " + granted.timeout());
  }

  private void acted(Delivered row, Step step) {
    switch (step.kind()) {
      case DONE -> {
        requireEvent(row, step, "success", "");
        attempt++;
        end = "done";
      }
      case FAIL, DEEP_FAIL, ERROR -> {
        requireEvent(row, step, "failure", step.words(attempt));
        failed();
      }
      case NULL -> {
        requireEvent(row, step, "failure", "returned null");
        failed();
      }
      case FATAL, DEAD, DEEP_DEAD -> {
        requireEvent(row, step, "killed", step.words(attempt));
        die(false);
      }
      case DELAY, DEEP_DELAY -> delayed(row, step);
      case SLEEP, IGNORE, HALT -> throw wrong(row + " by a step that never ends so: " + step);
    }
  }

  private void delayed(Delivered row, Step step) {
    if (delays < granted.maxDelays()) {
      requireEvent(row, step, "delayed", "");
      delays++;
      attempt++;
      suspect = false;
      enqueue("ready", Granted.Wait.exactly(Duration.ofMillis(step.millis())));
    } else {
      requireEvent(row, step, "killed", "more than " + granted.maxDelays() + " delays");
      die(false);
    }
  }

  private void failed() {
    fail(false);
  }

  private void fail(boolean remainsSuspect) {
    int failures = attempt + 1 - delays;
    if (failures > granted.maxRetries()) {
      die(remainsSuspect);
    } else {
      attempt++;
      suspect = remainsSuspect;
      enqueue("ready", granted.backoff(failures));
    }
  }

  private void die(boolean remainsSuspect) {
    attempt++;
    suspect = remainsSuspect;
    end = "dead";
    enqueue("dead", Granted.Wait.NONE);
  }

  private void enqueue(String status, Granted.Wait wait) {
    queued = true;
    queue.add(new Expected(new QueueChange.State(status, attempt, delays, suspect), wait));
  }

  private void requireEvent(Delivered row, Step step, String event, String words) {
    String error = row.error() == null ? "" : row.error();
    require(
        row.event().equals(event) && error.contains(words),
        row + " where " + step + " gives " + event + " " + words);
  }

  private void require(boolean holds, String what) {
    if (!holds) {
      throw wrong(what);
    }
  }

  private WrongHistoryException wrong(String what) {
    return new WrongHistoryException(what + "; script [" + script + "], granted " + granted);
  }
}
