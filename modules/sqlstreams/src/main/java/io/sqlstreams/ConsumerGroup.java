package io.sqlstreams;

import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Start;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotRetainedException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.error.StreamNotFoundException;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * A consumer group by its name: every group sees every message of the stream that its bindings and
 * schema versions let through, and within a group each message goes to one of its processes. The
 * handle itself does no I/O; each verb resolves the names when it is called. Thread-safe. Every
 * verb throws {@link DatabaseException} when the database can't be reached or refuses.
 *
 * @param <T> the payload's type
 */
public interface ConsumerGroup<T> {
  /** The group's name. */
  String name();

  /**
   * Declares the group. It is created when it isn't there; else the newest declaration wins, a
   * difference is recorded in {@code worker_config_log}, and an equal one writes nothing. Safe when
   * many processes do it at once.
   *
   * <p>Its bindings are one set, to which belong the schema versions that this handle reads: its
   * own and those that it upgrades. The newest declaration wins here too, also one of an older
   * build, and holds for every message above where the group stands at that moment: {@link
   * #bindings} tells the point. What was claimed before is delivered by the earlier set, also when
   * a range is taken over from a dead process, and what is in the exception queue stays there; but
   * a message there whose schema version the group declares no more, and that the process which
   * takes it can't read, is dead at once. Each change leaves a row in {@code binding_config_log},
   * with {@code installed} or {@code waiting} for the group's {@link GroupBindings.State}; that
   * bindings were declared again unchanged is noted as {@code joined}, once for each set. A handle
   * without a payload class says nothing of versions: a new group reads all, and one that is there
   * what it has read so far.
   *
   * @throws InvalidInputException when the name breaks its rule, or a new group is to start after
   *     an id above the newest message's
   * @throws NotRetainedException when a new group is to start at messages that are dropped already
   * @throws StreamNotFoundException when the stream isn't registered
   */
  GroupInfo register(GroupConfig config);

  /** Declares the group with every setting at its default; see {@link #register(GroupConfig)}. */
  default GroupInfo register() {
    return register(GroupConfig.defaults());
  }

  /**
   * The registered group; empty when there is none of this name.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   */
  Optional<GroupInfo> get();

  /**
   * Gives the group another name; its position stays, and consumers that run already go on. This
   * handle keeps the old name.
   *
   * @param name 1 to 200 letters, digits, dots, underscores or hyphens; a letter or digit first
   * @throws InvalidInputException when the name breaks the rule or is taken
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  GroupInfo rename(String name);

  /**
   * Drops the group with its position, leases and exception queue. The messages stay. Does nothing
   * when there is none.
   *
   * @throws DestroyNotAllowedException when the client doesn't allow it
   * @throws StreamNotFoundException when the stream isn't registered
   */
  void destroy();

  /**
   * What the group reads of its stream, and from where on. Nothing is locked or written.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  GroupBindings bindings();

  /**
   * Where the group stands: its place in the log, its lag, its exception queue, and who holds it
   * up. It is worked out in the database, so it doesn't matter where consumers run, or whether any
   * does. One statement that locks and writes nothing, waits for nobody and holds up nobody; its
   * cost grows with the number of the log's partitions, not with the length of the log or of the
   * exception queue.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  GroupSnapshot snapshot();

  /**
   * The ranges that consuming processes of this group hold at the moment, in the order of the log.
   * Single messages of the exception queue aren't among them.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  List<LeaseInfo> leases();

  /**
   * Ends the leases of a session whose process is known to be dead, so that others go on at once
   * and not when the leases run out. If the process lives all the same, its results are refused and
   * its messages delivered again.
   *
   * @param session the session, as {@link #leases} names it
   * @return how many ranges were released
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  int releaseLeases(UUID session);

  /** The messages of this group that wait for another attempt or are dead. No I/O. */
  ExceptionQueue exceptions();

  /**
   * Moves the group back, so that every message after that place is delivered again, whether it was
   * done, failed or dead, and in whatever process it is being handled now. It never moves a group
   * forward. When it returns that is committed, in a transaction of its own: claims begin there,
   * results of what was claimed above it are refused, the messages above it have left the exception
   * queue (each with a row {@code superseded} in the delivery log, unless the group's log is off),
   * and a row in the operation log says so. The handlers that run go on until their process finds
   * out, with its next heartbeat.
   *
   * <p>It waits for claims and results that are being written, and holds up those of the whole
   * stream while it works: one to two seconds for 100,000 messages in the exception queue above
   * that place. Discard them first when there are millions. It gives up when others are in its way
   * for long.
   *
   * @param start the place; {@link Start#beginning()} is the oldest retained message, or where the
   *     group stands when that is older
   * @return what it did
   * @throws InvalidInputException when the place is above where the group stands
   * @throws NotRetainedException when messages after the place are dropped already
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   * @throws OutcomeUnknownException when the connection breaks during the commit
   */
  Rewind rewind(Start start);

  /**
   * What {@link #rewind} would do at the moment. Writes nothing and locks nothing.
   *
   * @param start the place; see {@link #rewind}
   * @return what it would do
   * @throws InvalidInputException when the place is above where the group stands
   * @throws NotRetainedException when messages after the place are dropped already
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  Rewind previewRewind(Start start);

  /**
   * Begins to consume and returns at once. Messages are delivered at least once. The group's
   * settings are read now, and again every {@link ConsumeOptions#configRefreshInterval}.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  Consumption consume(MessageHandler<T> handler, ConsumeOptions options);

  /**
   * Begins to consume with every option at its default; see {@link #consume(MessageHandler,
   * ConsumeOptions)}.
   */
  default Consumption consume(MessageHandler<T> handler) {
    return consume(handler, ConsumeOptions.defaults());
  }

  /**
   * Begins to consume in lists and returns at once. Messages are delivered at least once.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  Consumption consumeBatches(BatchHandler<T> handler, ConsumeOptions options);

  /**
   * Begins to consume in lists with every option at its default; see {@link
   * #consumeBatches(BatchHandler, ConsumeOptions)}.
   */
  default Consumption consumeBatches(BatchHandler<T> handler) {
    return consumeBatches(handler, ConsumeOptions.defaults());
  }

  /**
   * Begins to consume with the results in the handler's own transaction, and returns at once. What
   * the handler writes through its connection takes effect exactly once for each message that is
   * done, whatever crashes, and nothing of it for one that isn't; what it does elsewhere can happen
   * more than once. Each running handler holds one connection of the pool; two more are needed
   * beside them.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when the group isn't registered
   */
  Consumption consumeTransactional(TransactionalHandler<T> handler, ConsumeOptions options);

  /**
   * Begins to consume in transactions with every option at its default; see {@link
   * #consumeTransactional(TransactionalHandler, ConsumeOptions)}.
   */
  default Consumption consumeTransactional(TransactionalHandler<T> handler) {
    return consumeTransactional(handler, ConsumeOptions.defaults());
  }
}
