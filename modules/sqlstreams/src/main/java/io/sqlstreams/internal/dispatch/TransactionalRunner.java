package io.sqlstreams.internal.dispatch;

import io.sqlstreams.TransactionalHandler;
import io.sqlstreams.internal.codec.PayloadReader;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Policy;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the handler in transactions that also record its results. Several messages share one, each
 * behind a savepoint. What goes wrong with one message is rolled back to its savepoint; what goes
 * wrong with the transaction as a whole is rolled back whole, and its messages run again, each in a
 * transaction of its own, so that it is known whose fault it is.
 */
public final class TransactionalRunner<T> implements Runner {
  /**
   * The most messages in a transaction: one with more than 64 writing subtransactions makes every
   * snapshot of the server look them up elsewhere (PGPROC_MAX_CACHED_SUBXIDS in PostgreSQL's
   * proc.h).
   */
  static final int MAX_IN_TRANSACTION = 60;

  /**
   * How often a message runs again, without counting as a failure, after the database gave way to
   * another transaction or the connection broke.
   */
  static final int TRANSIENT_TRIES = 3;

  private static final Logger log = LoggerFactory.getLogger(TransactionalRunner.class);
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final SessionParts parts;
  private final Handling<T> handling;
  private final TransactionalHandler<T> handler;

  private TransactionalRunner(
      SessionParts parts, Handling<T> handling, TransactionalHandler<T> handler) {
    this.parts = parts;
    this.handling = handling;
    this.handler = handler;
  }

  /** A handler of one message at a time, in transactions. */
  public static <T> Runner.Factory of(PayloadReader<T> reader, TransactionalHandler<T> handler) {
    return parts -> new TransactionalRunner<>(parts, new Handling<>(reader, parts), handler);
  }

  /** A claim goes to one thread as a whole, since its results are recorded in order. */
  @Override
  public int most() {
    return Integer.MAX_VALUE;
  }

  /** So every handler gets its share. */
  @Override
  public int claimSize(int target) {
    return Math.min(MAX_IN_TRANSACTION, Math.max(1, target / parts.options().handlers()));
  }

  /** Claims are handled by several threads, each as a whole. */
  @Override
  public boolean keepsOrder() {
    return false;
  }

  @Override
  public boolean run(List<Delivery> deliveries, Desk desk) {
    Work work = deliveries.get(0).work();
    List<Delivery> rest = deliveries;
    int troubles = 0;
    int begun = 0;
    while (!rest.isEmpty() && !parts.queue().isClosed() && work.mayBegin()) {
      int size = work.isSeparate() ? 1 : Math.min(MAX_IN_TRANSACTION, rest.size());
      HandlerTransaction<T> transaction =
          new HandlerTransaction<>(parts, handling, handler, rest, size, desk);
      switch (transaction.run()) {
        case COMMITTED -> {
          rest = rest.subList(transaction.committed(), rest.size());
          troubles = 0;
          begun = 0;
        }
        case LOST -> work.lose();
        case ABANDONED -> {
          return false;
        }
        case ROLLED_BACK -> {
          troubles++;
          begun += transaction.hasBegun() ? 1 : 0;
          afterRollBack(rest.get(0), transaction, troubles, begun);
        }
      }
    }
    // what is recorded isn't lost any more, even if its message was taken again meanwhile
    if (work.isLost() && !rest.isEmpty()) {
      parts.completer().add(work);
    }
    return true;
  }

  /**
   * Decides whose fault it was.
   *
   * @param troubles how many transactions in a row were rolled back
   * @param begun in how many of them the handler was called
   */
  private void afterRollBack(
      Delivery first, HandlerTransaction<T> transaction, int troubles, int begun) {
    Work work = first.work();
    @Nullable Throwable trouble = transaction.trouble();
    log.debug("{}: a transaction was rolled back", parts.subject(), trouble);
    if (transaction.hasBegun() && !work.isSeparate()) {
      work.separate();
    } else if (!transaction.hasBegun() || first.given() != null) {
      // not the handler's: the database is away, or can't take the result
      log.warn("{}: {}; trying again", parts.subject(), String.valueOf(trouble));
      pause(troubles);
    } else if (transaction.isTransient() && begun <= TRANSIENT_TRIES + 1) {
      pause(troubles);
    } else {
      Policy policy = handling.policy(first);
      Judge judge = handling.judge();
      first.give(judge.threw(trouble, policy, first.tries()));
    }
  }

  private static void pause(int troubles) {
    long nanos = FIRST_PAUSE_NANOS << Math.min(10, troubles);
    try {
      TimeUnit.NANOSECONDS.sleep(Math.min(LONGEST_PAUSE_NANOS, nanos));
    } catch (InterruptedException e) {
      // nobody interrupts a handler's thread between two attempts but the handler itself
      log.debug("a pause was interrupted", e);
    }
  }
}
