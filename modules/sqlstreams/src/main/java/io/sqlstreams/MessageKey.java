package io.sqlstreams;

import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.error.UnreadableMessageException;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A message key of a stream, and its <em>head</em>: of its {@linkplain
 * ProduceOptions#withCompaction(long) compacted} messages the one with the greatest schema version,
 * then the greatest rank, then the greatest id. So a stream of compacted messages is a table of the
 * newest value for each key, with its history. The handle itself does no I/O. Thread-safe.
 *
 * <p>Every verb throws {@link InvalidInputException} when the key is null, above 1,024 bytes of
 * UTF-8, or holds U+0000 or a lone surrogate, {@link StreamNotFoundException} when the stream isn't
 * registered, {@link UnreadableMessageException} when a message has a schema version that the
 * handle neither has nor {@linkplain StreamHandle#upgrade(int, Class, Function) upgrades}, or its
 * codec fails, and {@link DatabaseException} when the database can't be reached or refuses.
 *
 * @param <T> the payload's type
 */
public interface MessageKey<T> {
  /** The longest list that {@link #messages} gives. */
  int MAX_MESSAGES = 1_000;

  /** The key. */
  String key();

  /**
   * The newest value of the key. A deleted key has a tombstone for a head until the head is swept
   * away, at the earliest after {@link StreamConfig#tombstoneTtl}. Nothing is locked.
   *
   * @return empty when the key has no compacted message, when its tombstone was swept away, and
   *     when the head's message was dropped with its partition
   */
  Optional<KeyedMessage<T>> head();

  /**
   * The last messages of the key that the log holds, newest first by their ids, compacted or not.
   * Nothing is locked. The cost grows with the number of messages asked for, and of the log's
   * partitions, not with the length of the log.
   *
   * @param most how many at most, 1 to {@value #MAX_MESSAGES}
   * @throws InvalidInputException when that is outside its range
   */
  List<KeyedMessage<T>> messages(int most);

  /**
   * Locks the key's head until the end of the caller's transaction, also when there is none: nobody
   * else changes or locks it until then. Waits for whoever has it. What it returns is what is there
   * once the lock is held; at REPEATABLE READ and SERIALIZABLE, a head that changed since the
   * transaction's snapshot is a serialization failure (40001).
   *
   * <p>Producers that write this key wait, and a producer that waits holds up every group of the
   * stream, and the messages that are committed together with its own: keep the transaction short.
   * Two transactions that lock several keys in different orders can deadlock, as with any rows. A
   * failure leaves the caller's transaction to be rolled back, as that of any statement does.
   *
   * @param connection a connection of PostgreSQL's driver, or of a pool around it, in a transaction
   * @return the head, as {@link #head()} tells it
   * @throws InvalidInputException when the connection is closed, another driver's, or in
   *     auto-commit mode outside a transaction, where the lock would end at once
   */
  Optional<KeyedMessage<T>> lockHead(Connection connection);

  /**
   * Reads the head, has a function make the next value, and produces it, in one transaction at READ
   * COMMITTED under the head's lock: of any number of callers in any number of processes each sees
   * the result of the one before. What it produces is compacted and becomes the head: its rank is
   * that of the head, 0 without one. When it returns, that is committed.
   *
   * <p>The function runs while a transaction and a lock are open: it must be quick, and must not
   * write to the same key by another way. When it throws, everything is rolled back and the
   * exception goes through.
   *
   * @param next gets the current value, or null for none or a deleted key; gives the next one, or
   *     null to leave everything as it is
   * @return the receipt; empty when nothing was produced
   * @throws OutcomeUnknownException when the connection broke while the commit was under way
   */
  default Optional<Produced> update(UnaryOperator<@Nullable T> next) {
    return change(head -> toChange(head, next));
  }

  /**
   * The same in the caller's transaction: the lock lasts until its end, and the message becomes
   * visible at its commit. See {@link #lockHead} for what holds for the connection.
   *
   * @param connection a connection in a transaction
   * @param next see {@link #update(UnaryOperator)}
   * @return the receipt; empty when nothing was produced
   */
  default Optional<Produced> update(Connection connection, UnaryOperator<@Nullable T> next) {
    return change(connection, head -> toChange(head, next));
  }

  /**
   * Like {@link #update(UnaryOperator)}, for functions that need the whole head, delete the key, or
   * give the message a routing key or headers.
   *
   * @param change gets the head, a tombstone included; says what is to become of it
   * @return the receipt; empty when nothing was produced
   * @throws OutcomeUnknownException when the connection broke while the commit was under way
   */
  Optional<Produced> change(Function<Optional<KeyedMessage<T>>, HeadChange<T>> change);

  /**
   * The same in the caller's transaction; see {@link #update(Connection, UnaryOperator)}.
   *
   * @param connection a connection in a transaction
   * @param change see {@link #change(Function)}
   * @return the receipt; empty when nothing was produced
   */
  Optional<Produced> change(
      Connection connection, Function<Optional<KeyedMessage<T>>, HeadChange<T>> change);

  private static <T> HeadChange<T> toChange(
      Optional<KeyedMessage<T>> head, UnaryOperator<@Nullable T> next) {
    @Nullable T value = next.apply(head.map(KeyedMessage::payload).orElse(null));
    return value == null ? HeadChange.none() : HeadChange.to(value);
  }
}
