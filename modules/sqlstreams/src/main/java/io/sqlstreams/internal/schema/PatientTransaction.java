package io.sqlstreams.internal.schema;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.SqlWork;
import io.sqlstreams.internal.sql.Statement;
import java.util.concurrent.ThreadLocalRandom;

/**
 * A transaction of DDL, or another one that locks tables. It gives up soon when another transaction
 * is in its way, since everybody who comes later would queue behind it, lets them pass, and tries
 * again a few times.
 */
public final class PatientTransaction {
  private static final Patience SHORT = new Patience(5, 100);

  /**
   * How often it is tried.
   *
   * @param tries 1 or above
   * @param pauseMillis the longest pause between two of them, in milliseconds; 1 or above
   */
  public record Patience(int tries, int pauseMillis) {}

  private PatientTransaction() {}

  /**
   * Does the work in a transaction at READ COMMITTED and commits it. It runs again from the start
   * after a lock timeout or a deadlock.
   *
   * @param what what is being done, for messages
   * @param lock comes first: sets the lock timeout and takes the lock that keeps others out
   * @throws DatabaseException with {@link ErrorCode#CONTENTION} when every try met a lock
   */
  public static <R> R run(Database database, String what, Statement lock, SqlWork<R> work) {
    return run(database, what, lock, SHORT, work);
  }

  /** The same with another patience. */
  public static <R> R run(
      Database database, String what, Statement lock, Patience patience, SqlWork<R> work) {
    for (int attempt = 1; ; attempt++) {
      try {
        return database.inTransaction(
            what,
            connection -> {
              lock.run(connection);
              return work.with(connection);
            });
      } catch (DatabaseException e) {
        if (e.code() != ErrorCode.CONTENTION) {
          throw e;
        }
        if (attempt == patience.tries() || !pause(patience.pauseMillis())) {
          throw givenUp(what, attempt, e);
        }
      }
    }
  }

  private static DatabaseException givenUp(String what, int tries, DatabaseException last) {
    return new DatabaseException(
        ErrorCode.CONTENTION,
        what
            + ": a lock of another transaction was in the way of each of "
            + tries
            + " tries, nothing was changed: end that transaction (pg_stat_activity shows the oldest), or try again later",
        last.sqlState(),
        last);
  }

  /** False when the thread was interrupted, which ends the patience. */
  private static boolean pause(int mostMillis) {
    try {
      Thread.sleep(ThreadLocalRandom.current().nextInt(mostMillis) + 1L);
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
