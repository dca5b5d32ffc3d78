package io.sqlstreams.internal.dispatch;

import io.sqlstreams.TransactionalHandler;
import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.lifecycle.HandlerThreads;
import io.sqlstreams.internal.outcome.Policy;
import io.sqlstreams.internal.outcome.Verdict;
import io.sqlstreams.internal.sql.OpenTransaction;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One transaction of a transactional handler: messages of one claim, and their results. For one
 * use.
 */
final class HandlerTransaction<T> {
  /** How it ended. */
  enum Result {
    /** What {@link #committed} says is done and recorded. */
    COMMITTED,
    /** Nothing of it remains; {@link #trouble} says why. */
    ROLLED_BACK,
    /** Nothing of it remains: the lease is somebody else's. */
    LOST,
    /** Nothing of it remains, and the thread isn't the pool's any more. */
    ABANDONED
  }

  /** A transaction ends soon after this, however many messages are left. */
  private static final long LONGEST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * How long the library's own statements may take until the commit. They wait for what a handler
   * has left behind on its connection, such as a COPY that it didn't end, and that may be for ever.
   */
  private static final Duration LONGEST_OWN = Duration.ofSeconds(10);

  private static final String SAVEPOINT = "SAVEPOINT sqlstreams_message";
  private static final String BEGIN =
      "SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE; " + SAVEPOINT;
  private static final String KEEP = "RELEASE " + SAVEPOINT + "; " + SAVEPOINT;
  private static final String UNDO = "ROLLBACK TO " + SAVEPOINT;

  private final SessionParts parts;
  private final Handling<T> handling;
  private final TransactionalHandler<T> handler;
  private final List<Delivery> rest;
  private final int size;
  private final Desk desk;
  private final Work work;
  private final List<Verdict> verdicts = new ArrayList<>();
  private final long begunAt = System.nanoTime();
  private boolean begun;
  private @Nullable Throwable thrown;
  private @Nullable Attempt own;
  private @Nullable Throwable trouble;
  private @Nullable SQLException lostAtCommit;

  /**
   * @param rest the deliveries of the work that are left
   * @param size how many of them to take
   */
  HandlerTransaction(
      SessionParts parts,
      Handling<T> handling,
      TransactionalHandler<T> handler,
      List<Delivery> rest,
      int size,
      Desk desk) {
    this.parts = parts;
    this.handling = handling;
    this.handler = handler;
    this.rest = rest;
    this.size = size;
    this.desk = desk;
    this.work = rest.get(0).work();
  }

  /** How many deliveries have ended with it. */
  int committed() {
    return verdicts.size();
  }

  /** Whether the handler was called. */
  boolean hasBegun() {
    return begun;
  }

  /** Why it was rolled back. */
  @Nullable Throwable trouble() {
    return trouble;
  }

  /** Whether what went wrong may be gone the next time. */
  boolean isTransient() {
    return trouble != null && Transience.isTransient(trouble);
  }

  Result run() {
    Result result = attempt();
    return endOwn() ? result : Result.ABANDONED;
  }

  private Result attempt() {
    try {
      Result result;
      try (OpenTransaction transaction = parts.database().begin()) {
        result = inOrAborted(transaction);
      }
      return result == Result.COMMITTED ? committed(rest.subList(0, verdicts.size())) : result;
    } catch (SQLException | SqlStreamsException e) {
      trouble = e;
      return Result.ROLLED_BACK;
    }
  }

  /** A connection that is still busy must not go back to the pool. */
  private Result inOrAborted(OpenTransaction transaction) throws SQLException {
    try {
      return in(transaction);
    } finally {
      if (own != null && own.wasInterrupted()) {
        transaction.abort();
      }
    }
  }

  /** From the return of a handler until the next is called, or until the commit. */
  private void beginOwn(OpenTransaction transaction) {
    own =
        desk.begin(
            List.of(),
            LONGEST_OWN,
            new Attempt.Owner() {
              @Override
              public void interrupted() {
                aside("sqlstreams-abort", transaction::abort);
              }

              @Override
              public void abandoned() {
                work.separate();
                parts.queue().putBack(rest);
              }
            });
  }

  /** See {@link #beginOwn}; false when the thread was abandoned. */
  private boolean endOwn() {
    Attempt ending = own;
    own = null;
    return ending == null || desk.end(ending);
  }

  private Result in(OpenTransaction transaction) throws SQLException {
    transaction.run(BEGIN);
    Result result = Result.COMMITTED;
    while (result == Result.COMMITTED && !isFull()) {
      result = next(transaction);
    }
    return result == Result.COMMITTED ? commit(transaction) : result;
  }

  private boolean isFull() {
    return verdicts.size() == size
        || (!verdicts.isEmpty()
            && (parts.queue().isClosed() || System.nanoTime() - begunAt > LONGEST_NANOS));
  }

  /** Handles one message; {@link Result#COMMITTED} to go on. */
  private Result next(OpenTransaction transaction) throws SQLException {
    Delivery delivery = rest.get(verdicts.size());
    if (!work.mayBegin()) {
      return Result.LOST;
    }
    @Nullable Verdict verdict = delivery.given();
    if (verdict == null && work.isBehindUnresolved(delivery, rest, verdicts)) {
      verdict = handling.judge().deferred(delivery.tries());
    }
    if (verdict == null) {
      verdict = handle(delivery, transaction);
      if (verdict == null) {
        return Result.ABANDONED;
      }
      if (isGivingWay(verdict)) {
        trouble = thrown;
        return Result.ROLLED_BACK;
      }
      if (transaction.isGone()) {
        trouble =
            new SQLException(
                "the handler has ended the transaction by a statement: return an outcome, or throw, instead",
                "25000");
        return Result.ROLLED_BACK;
      }
      verdict = soundOr(verdict, delivery, transaction);
    }
    verdicts.add(verdict);
    if (!verdict.isDone()) {
      transaction.run(UNDO);
    } else if (!isFull()) {
      transaction.run(KEEP);
    }
    return Result.COMMITTED;
  }

  /** The handler's verdict; null when it was abandoned. */
  private @Nullable Verdict handle(Delivery delivery, OpenTransaction transaction) {
    if (!endOwn()) {
      return null;
    }
    begun = true;
    thrown = null;
    Policy policy = handling.policy(delivery);
    HandlerConnection connection = new HandlerConnection(transaction.connection());
    StatementCancel cancel = new StatementCancel(transaction);
    Attempt attempt =
        desk.begin(
            List.of(delivery),
            policy.timeout(),
            owner(delivery, policy, transaction, connection, cancel));
    Verdict verdict =
        handling.handle(
            delivery,
            policy,
            message -> {
              try {
                return handler.handle(message, connection.guarded());
              } catch (Throwable e) {
                thrown = e;
                throw e;
              }
            });
    boolean counts = desk.end(attempt);
    connection.revoke();
    cancel.end();
    if (!counts) {
      return null;
    }
    beginOwn(transaction);
    return attempt.wasInterrupted() ? late(delivery, policy, verdict) : verdict;
  }

  /**
   * It has had its time, also when this can't be recorded, since its connection broke with that.
   */
  private Verdict late(Delivery delivery, Policy policy, Verdict verdict) {
    Verdict late = handling.late(delivery, policy, verdict);
    if (late.event() == Verdict.Event.FAILURE) {
      delivery.give(late);
    }
    return late;
  }

  private Attempt.Owner owner(
      Delivery delivery,
      Policy policy,
      OpenTransaction transaction,
      HandlerConnection connection,
      StatementCancel cancel) {
    return new Attempt.Owner() {
      @Override
      public void interrupted() {
        // a thread that waits for the database doesn't hear the interrupt
        aside("sqlstreams-cancel", cancel::send);
      }

      @Override
      public void abandoned() {
        connection.revoke();
        delivery.give(handling.abandoned(delivery, policy));
        work.separate();
        parts.queue().putBack(rest);
        aside("sqlstreams-abort", transaction::abort);
      }
    };
  }

  /** What blocks must not hold up the watch over the other handlers. */
  private static void aside(String name, Runnable task) {
    HandlerThreads.platform(name).newThread(task).start();
  }

  /** Another transaction was in the way, which is no failure of the message. */
  private boolean isGivingWay(Verdict verdict) {
    Throwable error = thrown;
    return verdict.event() == Verdict.Event.FAILURE
        && error != null
        && Transience.hasGivenWay(error)
        && !rest.get(verdicts.size()).cancelled();
  }

  /** Done isn't done when a statement has failed and the handler went on. */
  private Verdict soundOr(Verdict verdict, Delivery delivery, OpenTransaction transaction)
      throws SQLException {
    return verdict.isDone() && transaction.hasFailed()
        ? handling
            .judge()
            .failed(
                "a statement of the handler failed and it went on: let the exception out, or roll back to a savepoint before it",
                handling.policy(delivery),
                delivery.tries())
        : verdict;
  }

  private Result commit(OpenTransaction transaction) throws SQLException {
    List<Delivery> ended = rest.subList(0, verdicts.size());
    if (!record(transaction.connection(), ended)) {
      return Result.LOST;
    }
    // a commit has the time that it takes
    if (!endOwn()) {
      return Result.ABANDONED;
    }
    try {
      transaction.commit();
    } catch (SQLException e) {
      if (!SqlErrors.isConnectionLost(e)) {
        throw e;
      }
      lostAtCommit = e;
    }
    return Result.COMMITTED;
  }

  /** After the connection was given back: the look at the lease may need its place in the pool. */
  private Result committed(List<Delivery> ended) throws SQLException {
    // if the lease is as it was, nothing was committed; if that look came too early, the lease will
    // refuse the results of the next run
    if (lostAtCommit != null
        && parts.outcomes().isHeld(work.token(), ended.get(ended.size() - 1).id())) {
      throw lostAtCommit;
    }
    List<Verdict> given = List.copyOf(verdicts);
    parts.counters().recorded(given);
    if (work.endRecorded(ended, given)) {
      parts.holdings().remove(work);
    }
    parts.wakeProducedTo().run();
    return Result.COMMITTED;
  }

  private boolean record(Connection connection, List<Delivery> ended) throws SQLException {
    return work.isRange()
        ? parts.outcomes().finish(connection, work.finishedRange(ended, verdicts))
        : parts
            .outcomes()
            .finishException(connection, work.finished(ended.get(0), verdicts.get(0)));
  }
}
