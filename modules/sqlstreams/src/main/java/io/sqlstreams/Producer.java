package io.sqlstreams;

import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.error.StreamNotFoundException;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Writes messages to one stream. A message is durable when the call returns. Thread-safe; it needs
 * no closing. Single messages of concurrent callers are committed together: while one batch is on
 * its way, the next one fills. A lone caller never waits for company.
 *
 * <p>Every method checks its input before anything is sent: message key, routing key and
 * idempotency key up to 1,024 bytes of UTF-8, headers together up to 64 KiB, the payload up to the
 * stream's limit, no U+0000 and no lone surrogate in any text.
 *
 * <p>A message whose {@linkplain ProduceOptions#idempotencyKey idempotency key} is in use is a
 * duplicate: nothing is written, and its receipt names the original. While the transaction that has
 * just used the key is open, the call waits for its end, and so do the messages that are committed
 * together with this one.
 *
 * <p>A {@linkplain ProduceOptions#withCompaction compacted} message becomes its key's head in the
 * same transaction, unless the head beats it; the write waits while another transaction holds that
 * head (an open one that has written to the key, or {@link MessageKey#lockHead}). The heads of one
 * write are taken in a fixed order, whatever the order of the messages. A duplicate changes no
 * head.
 *
 * <p>When the connection is lost while the library's own commit is under way, it is found out what
 * became of it, for up to 5 s: messages that all have idempotency keys are sent again, and the keys
 * see to it that they are there once; a large list (200 messages or 1 MiB and more) is looked up by
 * its transaction, and sent again if that was rolled back. Whatever is left is an {@link
 * OutcomeUnknownException}: nothing without a key is sent again unless it is proven that it isn't
 * there. A connection that is lost before the commit has written nothing; that is a {@link
 * DatabaseException}.
 *
 * <p>Every method throws {@link InvalidInputException} when a check fails, {@link
 * StreamNotFoundException} when the stream isn't registered, {@link ClosedException} when the
 * client is closed, and {@link DatabaseException} when the database can't be reached or refuses.
 *
 * @param <T> the payload's type
 */
public interface Producer<T> {
  /**
   * Produces one message in a transaction of the library's own. Blocks until it is committed.
   *
   * @throws OutcomeUnknownException when the connection broke while the commit was under way, and
   *     it can't be found out what became of it
   */
  Produced produce(T payload, ProduceOptions options);

  /**
   * Produces one message without key, routing key and headers; see {@link #produce(Object,
   * ProduceOptions)}.
   *
   * @throws OutcomeUnknownException when the connection broke while the commit was under way, and
   *     it can't be found out what became of it
   */
  default Produced produce(T payload) {
    return produce(payload, ProduceOptions.defaults());
  }

  /**
   * Produces all of these messages in one transaction of the library's own, or none. Blocks until
   * it is committed. An empty list does nothing.
   *
   * @return one receipt for each message, in the list's order
   * @throws OutcomeUnknownException when the connection broke while the commit was under way, and
   *     it can't be found out what became of it
   */
  List<Produced> produceAll(List<Outgoing<T>> messages);

  /**
   * Produces one message without waiting for it. The input is checked before the call returns; what
   * fails later completes the future exceptionally, with the exception that {@link #produce(Object,
   * ProduceOptions)} would throw. The future's own continuations run on a thread of the library and
   * must not block.
   *
   * <p>Blocks while too much is on its way already: {@value #MAX_PENDING_MESSAGES} messages or 64
   * MiB.
   */
  CompletableFuture<Produced> produceAsync(T payload, ProduceOptions options);

  /**
   * Produces one message without waiting for it; see {@link #produceAsync(Object, ProduceOptions)}.
   */
  default CompletableFuture<Produced> produceAsync(T payload) {
    return produceAsync(payload, ProduceOptions.defaults());
  }

  /**
   * Deletes a key: produces a compacted message without a payload, a <em>tombstone</em>. It is the
   * key's head, unless a greater one is there, until a newer message replaces it or its time is
   * over ({@link StreamConfig#tombstoneTtl}); groups get it as a message that {@linkplain
   * Message#isTombstone is one}. Otherwise like {@link #produce(Object, ProduceOptions)}.
   *
   * @param options with a message key; without a {@linkplain ProduceOptions#withCompaction(long)
   *     rank} the tombstone has rank 0
   * @throws OutcomeUnknownException when the connection broke while the commit was under way, and
   *     it can't be found out what became of it
   */
  Produced produceTombstone(ProduceOptions options);

  /**
   * Deletes a key; see {@link #produceTombstone(ProduceOptions)}.
   *
   * @throws OutcomeUnknownException when the connection broke while the commit was under way, and
   *     it can't be found out what became of it
   */
  default Produced produceTombstone(String key) {
    return produceTombstone(ProduceOptions.key(key));
  }

  /**
   * Deletes a key without waiting for it; see {@link #produceTombstone(ProduceOptions)} and {@link
   * #produceAsync(Object, ProduceOptions)}.
   */
  CompletableFuture<Produced> produceTombstoneAsync(ProduceOptions options);

  /** How many messages may be on their way at once before {@link #produceAsync} blocks. */
  int MAX_PENDING_MESSAGES = 20_000;

  /**
   * A view of this producer that writes through the caller's connection, within the caller's
   * transaction: the messages become visible at the caller's commit and vanish with a rollback.
   * Nothing is sent by this call itself.
   *
   * @param connection a connection of PostgreSQL's driver, or of a pool around it, to the database
   *     of this client
   */
  TransactionProducer<T> in(Connection connection);
}
