package io.sqlstreams;

import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ConflictingDeclarationException;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import java.util.List;
import java.util.Optional;

/**
 * A stream by its name. The handle itself does no I/O; each verb resolves the name when it is
 * called. Thread-safe. Every verb works in a transaction of its own and throws {@link
 * DatabaseException} when the database can't be reached or refuses.
 *
 * @param <T> the payload's type
 */
public interface StreamHandle<T> {
  /** The stream's name. */
  String name();

  /**
   * Declares the stream. It is created when it isn't there; else the newest declaration wins, a
   * difference is recorded in {@code stream_config_log}, and an equal one writes nothing. Safe when
   * many processes do it at once; a failure leaves nothing behind.
   *
   * @throws InvalidInputException when the name breaks its rule
   * @throws ConflictingDeclarationException when payload type or partition size differ from the
   *     registered ones
   */
  StreamInfo register(StreamConfig config);

  /** Declares the stream with every setting at its default; see {@link #register(StreamConfig)}. */
  default StreamInfo register() {
    return register(StreamConfig.defaults());
  }

  /** The registered stream; empty when there is none of this name. */
  Optional<StreamInfo> get();

  /**
   * Gives the stream another name; its tables, groups and messages stay as they are. Producers and
   * consumers that run already go on. This handle keeps the old name.
   *
   * @param name 1 to 200 letters, digits, dots, underscores or hyphens; a letter or digit first
   * @throws InvalidInputException when the name breaks the rule or is taken
   * @throws StreamNotFoundException when the stream isn't registered
   */
  StreamInfo rename(String name);

  /**
   * Drops the stream, its messages and its groups. Does nothing when there is none.
   *
   * @throws DestroyNotAllowedException when the client doesn't allow it
   */
  void destroy();

  /** A producer for this stream. No I/O. */
  Producer<T> producer();

  /**
   * A message key of this stream, with the newest value that compacted messages have given it. No
   * I/O.
   *
   * @param key the message key; empty is a key like others
   */
  MessageKey<T> key(String key);

  /**
   * Removes what compacted messages leave behind: the heads of keys that were deleted longer than
   * {@link StreamConfig#tombstoneTtl} ago, after which such a key is as if it had never been used,
   * and the locks of keys without a head that nobody has taken for longer than {@link
   * StreamConfig#emptyHeadTtl}. By the database's clock. The messages themselves, tombstones
   * included, stay in the log, so a group that is late by more than that still gets them. Waits for
   * nobody: a head that somebody has locked is left for the next time. Many at a time, each 1,000
   * in a transaction of their own; nothing else calls it yet.
   *
   * @return how many were removed
   * @throws StreamNotFoundException when the stream isn't registered
   */
  HeadSweep sweepHeads();

  /** A consumer group of this stream by its name. No I/O. */
  ConsumerGroup<T> group(String name);

  /**
   * Every registered group of this stream, by name.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   */
  List<GroupInfo> groups();

  /**
   * A message as it is stored, and what has become of it in each registered group. Nothing is
   * locked or written, and the message's payload isn't decoded. Visible are committed messages,
   * those behind a gap included.
   *
   * @param id the message id, 1 or above
   * @return empty when the log doesn't hold it: it was never produced, isn't committed yet, was
   *     rolled back, or was dropped by retention
   * @throws InvalidInputException when the id is below 1
   * @throws StreamNotFoundException when the stream isn't registered
   */
  Optional<MessageInfo> message(long id);
}
