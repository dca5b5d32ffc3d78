package io.sqlstreams;

import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.error.StreamNotFoundException;
import java.util.List;

/**
 * Writes messages to one stream within the caller's transaction. It never commits, rolls back,
 * closes, or changes the auto-commit mode or the isolation level of the connection; on a connection
 * in auto-commit mode each call is a transaction by itself. Each call uses one savepoint, so that a
 * refused message leaves the caller's transaction usable, except after a serialization failure,
 * after which PostgreSQL wants the whole transaction again. As thread-safe as the connection: one
 * thread at a time.
 *
 * <p>An {@linkplain ProduceOptions#idempotencyKey idempotency key} is used once the caller's
 * transaction commits; until then, others with the same key wait for it. At REPEATABLE READ and
 * SERIALIZABLE, a key that a transaction has used which the caller's snapshot doesn't show is a
 * serialization failure (40001). Two transactions that use the same keys in several calls, in
 * different orders, can deadlock, as with any rows; the keys of one call are used in a fixed order.
 * The same holds for the keys of compacted messages: their heads stay locked until the caller's
 * transaction ends, and producers of the same keys wait for it, and with them every group of the
 * stream; keep such transactions short. A connection that is lost at the caller's commit is the
 * caller's; in auto-commit mode it is an {@link OutcomeUnknownException}.
 *
 * <p>Every method throws {@link InvalidInputException} when a check of {@link Producer} fails,
 * {@link StreamNotFoundException} when the stream isn't registered, and {@link DatabaseException}
 * when the database refuses.
 *
 * @param <T> the payload's type
 */
public interface TransactionProducer<T> {
  /** Produces one message; it becomes visible at the caller's commit. */
  Produced produce(T payload, ProduceOptions options);

  /**
   * Produces one message without key, routing key and headers; it becomes visible at the caller's
   * commit.
   */
  default Produced produce(T payload) {
    return produce(payload, ProduceOptions.defaults());
  }

  /**
   * Deletes a key by a tombstone, which becomes visible at the caller's commit; see {@link
   * Producer#produceTombstone(ProduceOptions)}.
   *
   * @param options with a message key
   */
  Produced produceTombstone(ProduceOptions options);

  /** Deletes a key by a tombstone, which becomes visible at the caller's commit. */
  default Produced produceTombstone(String key) {
    return produceTombstone(ProduceOptions.key(key));
  }

  /**
   * Produces all of these messages, or none; they become visible at the caller's commit. An empty
   * list does nothing.
   *
   * @return one receipt for each message, in the list's order
   */
  List<Produced> produceAll(List<Outgoing<T>> messages);
}
