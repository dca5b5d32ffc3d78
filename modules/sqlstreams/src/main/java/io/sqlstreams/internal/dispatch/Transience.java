package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.outcome.Causes;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.SQLException;
import java.util.function.Predicate;

/** Whether what went wrong in a transaction may be gone the next time. */
final class Transience {
  private Transience() {}

  /** Whether it may; a statement that was stopped from outside is among it. */
  static boolean isTransient(Throwable error) {
    return hasGivenWay(error) || isCausedBy(error, SqlErrors::isCancelled);
  }

  /** Whether another transaction was in the way, or the connection broke. */
  static boolean hasGivenWay(Throwable error) {
    return isCausedBy(error, e -> SqlErrors.isContention(e) || SqlErrors.isConnectionLost(e));
  }

  private static boolean isCausedBy(Throwable error, Predicate<SQLException> kind) {
    return Causes.of(error).stream()
        .anyMatch(cause -> cause instanceof SQLException e && is(e, kind));
  }

  /** Whatever the error's own methods do. */
  private static boolean is(SQLException error, Predicate<SQLException> kind) {
    try {
      return kind.test(error);
    } catch (Throwable e) {
      return false;
    }
  }
}
