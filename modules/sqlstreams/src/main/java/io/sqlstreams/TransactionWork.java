package io.sqlstreams;

import java.sql.Connection;

/**
 * What is to be done in one transaction.
 *
 * @param <R> the result's type
 * @param <E> what it may throw
 */
@FunctionalInterface
public interface TransactionWork<R, E extends Exception> {
  /**
   * Does the work. The connection is in a transaction; it must not be committed, rolled back or
   * closed here.
   *
   * @throws E to have everything rolled back
   */
  R in(Connection connection) throws E;
}
