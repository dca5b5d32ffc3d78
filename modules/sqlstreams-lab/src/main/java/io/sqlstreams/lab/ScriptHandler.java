package io.sqlstreams.lab;

import io.sqlstreams.BatchOutcome;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.OutcomeException;
import io.sqlstreams.codec.RawPayload;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** The handlers of one group that do what the messages say. Thread-safe. */
final class ScriptHandler {
  /** What the consumer declares as not retryable. */
  static final class FatalException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    FatalException(String message) {
      super(message);
    }
  }

  /** Longer than the grace of an interrupted handler. */
  private static final long IGNORED_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  private final int group;
  private final Ledger ledger;
  private final String insert;

  /**
   * @param group which of the scripts
   * @param ledger gets every attempt when it begins
   * @param effects the table for the effects
   */
  ScriptHandler(int group, Ledger ledger, String effects) {
    this.group = group;
    this.ledger = ledger;
    this.insert = "INSERT INTO " + effects + " (message_id) VALUES (?)";
  }

  /** Acts one message. */
  Outcome handle(Message<RawPayload> message) throws Exception {
    begin(message);
    return act(message);
  }

  /** Acts one message after an effect, which must not outlive an attempt that isn't done. */
  Outcome handle(Message<RawPayload> message, Connection connection) throws Exception {
    begin(message);
    write(message, connection);
    try {
      return act(message);
    } finally {
      if (step(message).kind() == Step.Kind.IGNORE) {
        write(message, connection);
      }
    }
  }

  /** Acts a list, with an outcome for each. */
  BatchOutcome handle(List<Message<RawPayload>> messages) {
    List<Outcome> outcomes = new ArrayList<>();
    for (Message<RawPayload> message : messages) {
      begin(message);
    }
    for (Message<RawPayload> message : messages) {
      outcomes.add(outcome(message));
    }
    return BatchOutcome.each(outcomes);
  }

  private Outcome outcome(Message<RawPayload> message) {
    try {
      return act(message);
    } catch (Throwable e) {
      return Outcome.failed(e);
    }
  }

  private void begin(Message<RawPayload> message) {
    long now = System.nanoTime();
    ledger.append(new Ledger.Entry(message.id(), message.attempt(), now, now));
  }

  private Step step(Message<RawPayload> message) {
    return Script.parse(message.payload().bytes(), group).at(message.attempt());
  }

  private Outcome act(Message<RawPayload> message) throws Exception {
    Step step = step(message);
    String words = step.words(message.attempt());
    return switch (step.kind()) {
      case DONE -> Outcome.done();
      case FAIL -> throw new IllegalStateException(words);
      case FATAL -> throw new IllegalStateException("outside", new FatalException(words));
      case DELAY -> Outcome.delay(Duration.ofMillis(step.millis()));
      case DEAD -> Outcome.dead(words);
      case DEEP_FAIL -> throw deep(Outcome.failed(new IllegalStateException(words)));
      case DEEP_DELAY -> throw deep(Outcome.delay(Duration.ofMillis(step.millis())));
      case DEEP_DEAD -> throw deep(Outcome.dead(words));
      case NULL -> nothing();
      case ERROR -> throw new AssertionError(words);
      case SLEEP -> throw sleep(message, words);
      case IGNORE -> throw ignore(message, words);
      case HALT -> throw halt();
    };
  }

  @SuppressWarnings("NullAway") // what a handler must not return, and some do
  private static Outcome nothing() {
    return null;
  }

  private static Exception deep(Outcome outcome) {
    return new IllegalStateException(
        "outside", new IllegalArgumentException("inside", new OutcomeException(outcome)));
  }

  private static Exception sleep(Message<RawPayload> message, String words)
      throws InterruptedException {
    while (!message.cancelled()) {
      TimeUnit.NANOSECONDS.sleep(PAUSE_NANOS);
    }
    return new IllegalStateException(words);
  }

  private static Exception ignore(Message<RawPayload> message, String words) {
    long end = Long.MAX_VALUE;
    while (System.nanoTime() < end) {
      // clears the flag, or the pause would be none
      boolean told = Thread.interrupted() || message.cancelled();
      end = told && end == Long.MAX_VALUE ? System.nanoTime() + IGNORED_NANOS : end;
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    return new IllegalStateException(words);
  }

  private static Error halt() {
    Runtime.getRuntime().halt(137);
    return new AssertionError("unreachable");
  }

  private void write(Message<RawPayload> message, Connection connection) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(insert)) {
      statement.setLong(1, message.id());
      statement.executeUpdate();
    }
  }
}
