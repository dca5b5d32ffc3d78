package io.sqlstreams;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ConflictingDeclarationException;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

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

  /**
   * A handle that reads payloads of an older schema version too: they are read as this class and
   * turned into a {@code T}. Groups that are registered through it read both versions, whatever the
   * way of consuming; {@link Message#schemaVersion()} stays the stored one. Call it once for each
   * older version. What is produced has the handle's own version. No I/O; this handle stays as it
   * is.
   *
   * <p>Register the group through the new handle before messages of the older version come to it: a
   * group steps over versions that it doesn't declare.
   *
   * @param version the older version, from 1 to one below this handle's
   * @param type the class of the older payloads
   * @param upcaster makes a payload of this handle's of an older one; must be thread-safe. When it
   *     throws or gives null, that is as with a payload that can't be read
   * @throws InvalidInputException when the version is below 1, this handle's or above, or upgraded
   *     already; when the class's {@link io.sqlstreams.codec.SchemaVersion} is another; when
   *     something is null; or when the handle takes payloads of every version as they are
   */
  <U> StreamHandle<T> upgrade(
      int version, Class<U> type, Function<? super U, ? extends T> upcaster);

  /**
   * The same with a codec for the older payloads, whose own version doesn't matter; see {@link
   * #upgrade(int, Class, Function)}.
   *
   * @throws InvalidInputException when the version is below 1, this handle's or above, or upgraded
   *     already; when something is null; or when the handle takes payloads of every version as they
   *     are
   */
  <U> StreamHandle<T> upgrade(
      int version, PayloadCodec<U> codec, Function<? super U, ? extends T> upcaster);

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
   * in a transaction of their own. The upkeep does it too, now and then.
   *
   * @return how many were removed
   * @throws StreamNotFoundException when the stream isn't registered
   */
  HeadSweep sweepHeads();

  /**
   * How the stream is kept up: its partitions, how far retention has come and what holds it back,
   * and whether the upkeep goes well. Nothing is locked or written.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   */
  StreamUpkeep upkeep();

  /**
   * Does the upkeep of this stream that is due, now: makes the next partition ahead of need, drops
   * partitions whose time is over by {@link StreamConfig#retention}, and removes idempotency keys,
   * heads and leftovers that have served their time. Workers do all that by themselves; this is for
   * whoever runs none, or doesn't want to wait. Safe beside them and beside itself. Produce and
   * consume never wait for it; what is in its way, it leaves for the next time. Takes one
   * connection for one short transaction after the other.
   *
   * @return what was done
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws DatabaseException when something is in the way of the partitions, or this role may not
   *     make or drop them; what could be done is done
   */
  UpkeepRun runUpkeep();

  /** A consumer group of this stream by its name. No I/O. */
  ConsumerGroup<T> group(String name);

  /**
   * Every registered group of this stream, by name.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   */
  List<GroupInfo> groups();

  /**
   * The worker that makes the stream's partitions ahead, drops those past their time, and removes
   * what nobody needs any more. No I/O.
   */
  default WorkerHandle janitor() {
    return worker("stream_janitor");
  }

  /** The worker that vacuums the stream's tables beside autovacuum; suspended at first. No I/O. */
  default WorkerHandle vacuum() {
    return worker("stream_vacuum");
  }

  /**
   * A background worker of this stream by its name. No I/O.
   *
   * @param name the worker's name
   */
  WorkerHandle worker(String name);

  /**
   * The background workers of this stream, by name.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   */
  List<WorkerInfo> workers();

  /**
   * What each schema version is still needed for, ascending: what the groups have left of it, which
   * compaction heads are of it, and by that whether it can be retired. Listed are the versions that
   * a group declares, that a head or the first or last message of the log has, or that something
   * has which a group has left. Nothing is locked or written, and no payload is read.
   *
   * <p>For each group it looks at up to {@value GroupSnapshot#COUNT_LIMIT} messages above what is
   * claimed and as many of both its dead and its other exceptions, for which it looks up the
   * message one by one, and it reads the rows of all compaction heads once: 0.1 s or so for a group
   * with much to do, and about a second for each few million keys.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   */
  List<VersionInfo> versions();

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
