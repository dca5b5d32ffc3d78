package io.sqlstreams.internal.produce;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.internal.produce.LostCommit.Evidence;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds out what became of a commit whose answer was lost, on another connection, and goes on from
 * there: never a silent resend, never a silent loss. Thread-safe.
 *
 * <ul>
 *   <li>Messages that all have idempotency keys are sent again: the keys make it exactly once.
 *   <li>Otherwise, where the transaction's id was known before the commit was sent, the server says
 *       what became of it: committed, then the receipts hold; rolled back, then the messages are
 *       sent again.
 *   <li>Otherwise nobody knows.
 * </ul>
 */
final class LostCommits {
  /**
   * How long it goes on: the database may be restarting, or hasn't noticed the loss, so that the
   * transaction is still open.
   */
  static final Duration PATIENCE = Duration.ofSeconds(5);

  private static final long PAUSE_MS = 50;

  /** Writes messages in one transaction of the library's own. */
  interface Write {
    /**
     * @throws LostCommit when the connection broke while the commit was under way
     */
    Receipts of(List<ReadyMessage> messages, Bounds bounds);
  }

  private enum Fate {
    COMMITTED,
    ABORTED,
    OPEN,
    UNKNOWN
  }

  private final Database database;
  private final Write write;

  LostCommits(Database database, Write write) {
    this.database = database;
    this.write = write;
  }

  /**
   * The receipts of these messages, whose commit was lost.
   *
   * @throws OutcomeUnknownException when nobody knows what became of them
   */
  Receipts settle(LostCommit lost, List<ReadyMessage> messages) {
    return KeyedBatch.allHaveKeys(messages)
        ? sendAgain(messages, lost.unknown())
        : ask(lost, messages);
  }

  /**
   * Sends messages again that may be there already, and that all have idempotency keys.
   *
   * @param lost what is thrown when it can't be settled in time
   */
  Receipts sendAgain(List<ReadyMessage> messages, OutcomeUnknownException lost) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      try {
        return write.of(messages, Bounds.AGAIN);
      } catch (LostCommit again) {
        pause(end, lost, again);
      } catch (DatabaseException e) {
        // whatever it says of this try, the one before may have been committed
        if (e.code() != ErrorCode.DATABASE_UNREACHABLE) {
          lost.addSuppressed(e);
          throw lost;
        }
        pause(end, lost, e);
      }
    }
  }

  private Receipts ask(LostCommit first, List<ReadyMessage> messages) {
    long end = System.nanoTime() + PATIENCE.toNanos();
    LostCommit lost = first;
    while (true) {
      @Nullable Evidence evidence = lost.evidence();
      if (evidence == null) {
        throw lost.unknown();
      }
      switch (fate(lost, evidence, end)) {
        case COMMITTED -> {
          return evidence.receipts();
        }
        case ABORTED -> {
          try {
            return write.of(messages, Bounds.TRANSACTION);
          } catch (LostCommit again) {
            lost = again;
          }
        }
        case OPEN, UNKNOWN -> throw lost.unknown();
      }
    }
  }

  /** Never open: when the time is over, it throws that nobody knows. */
  private Fate fate(LostCommit lost, Evidence evidence, long end) {
    String what = Refusals.what(lost.log().stream().name());
    while (true) {
      @Nullable Throwable trouble = null;
      try {
        Fate fate =
            database.autoCommitted(what, connection -> fate(connection, lost.log(), evidence));
        if (fate != Fate.OPEN) {
          return fate;
        }
      } catch (DatabaseException e) {
        if (e.code() != ErrorCode.DATABASE_UNREACHABLE) { // such as an id from the future
          return Fate.UNKNOWN;
        }
        trouble = e;
      }
      pause(end, lost.unknown(), trouble);
    }
  }

  private static Fate fate(Connection connection, TargetLog log, Evidence evidence)
      throws SQLException {
    return switch (status(connection, log, evidence.transaction())) {
      case "in progress" -> Fate.OPEN;
      case "aborted" -> Fate.ABORTED;
      case "committed" -> isWritten(connection, log, evidence) ? Fate.COMMITTED : Fate.UNKNOWN;
      default -> Fate.UNKNOWN; // too long ago, or a standby
    };
  }

  private static String status(Connection connection, TargetLog log, String transaction)
      throws SQLException {
    try (Call call = log.commitStatus().on(connection);
        ResultSet row = call.set("transaction", transaction).query()) {
      row.next();
      @Nullable String status = row.getString("status");
      return status == null ? "" : status;
    }
  }

  private static boolean isWritten(Connection connection, TargetLog log, Evidence evidence)
      throws SQLException {
    long[] ids = evidence.receipts().writtenIds();
    try (Call call = log.writtenBy().on(connection)) {
      call.setArray("ids", "int8", ids).set("transaction", evidence.transaction());
      try (ResultSet row = call.query()) {
        row.next();
        return row.getLong("messages") == ids.length;
      }
    }
  }

  /** Waits a moment; when the time is over, or the thread is interrupted, it is unknown. */
  private static void pause(long end, OutcomeUnknownException lost, @Nullable Throwable trouble) {
    boolean isOver = System.nanoTime() >= end;
    if (!isOver) {
      try {
        TimeUnit.MILLISECONDS.sleep(PAUSE_MS);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        isOver = true;
      }
    }
    if (isOver) {
      if (trouble != null) {
        lost.addSuppressed(trouble);
      }
      throw lost;
    }
  }
}
