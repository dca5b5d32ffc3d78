package io.sqlstreams;

import java.sql.Connection;

/**
 * Handles messages one by one, each with a connection whose transaction also records that the
 * message is done: what the handler writes through it is kept exactly when the message is done. It
 * is called by several threads at once and must be thread-safe.
 *
 * @param <T> the payload's type
 */
@FunctionalInterface
public interface TransactionalHandler<T> {
  /**
   * Handles one message. Messages of one thread follow each other in one transaction at READ
   * COMMITTED, each behind a savepoint; it is committed when the handler is through with what was
   * claimed, or sooner. So what one of them leaves in the transaction (SET LOCAL, temporary tables,
   * advisory locks) is there for the next ones, unless it is rolled back; and what it leaves in the
   * session (SET, a role) comes back to the pool with the connection.
   *
   * @param connection to the database of the streams, in a transaction. It is valid until the
   *     handler returns; committing, rolling back as a whole and changing its mode are refused,
   *     closing it does nothing, savepoints of the handler's own are its business
   * @return how it ended. Unless it is done, what was written through the connection is rolled
   *     back; null counts as a failure
   * @throws Exception when the message should be tried again by its retry policy; what was written
   *     is rolled back. After a deadlock or a serialization failure the message is first run again
   *     in a transaction of its own, a few times, without counting as a failure
   */
  Outcome handle(Message<T> message, Connection connection) throws Exception;
}
