package io.sqlstreams.internal.produce;

import io.sqlstreams.Produced;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.internal.sql.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;

/**
 * What all producers of one stream name share: the log behind the name, and the group commit.
 * Thread-safe.
 */
final class StreamWriter implements GroupCommit.Flush {
  private final Database database;
  private final StreamCache streams;
  private final Attempts attempts;
  private final GroupCommit groupCommit;
  private final LongConsumer produced;
  private final LostCommits lostCommits;

  @SuppressWarnings("this-escape")
  StreamWriter(
      Database database,
      StreamCache streams,
      PartitionHealer healer,
      String schema,
      Executor executor,
      LongConsumer produced,
      String name) {
    this.database = database;
    this.streams = streams;
    this.attempts = new Attempts(database, healer, streams, schema);
    this.groupCommit =
        new GroupCommit(
            "the client, and with it the producer of stream \"" + name + "\",",
            this,
            executor,
            PendingMessages.Limits.DEFAULTS);
    this.produced = produced;
    this.lostCommits = new LostCommits(database, this::write);
  }

  Database database() {
    return database;
  }

  StreamCache streams() {
    return streams;
  }

  Attempts attempts() {
    return attempts;
  }

  GroupCommit groupCommit() {
    return groupCommit;
  }

  /** To be called after the library's own commit. */
  void announce(TargetLog log) {
    produced.accept(log.stream().id());
  }

  /**
   * Writes these messages in one transaction of the library's own.
   *
   * @throws OutcomeUnknownException when the connection broke while the commit was under way, and
   *     nobody knows what became of it
   */
  @Override
  public List<Produced> write(List<ReadyMessage> messages) {
    Receipts receipts;
    try {
      receipts = write(messages, Bounds.TRANSACTION);
    } catch (LostCommit lost) {
      receipts = lostCommits.settle(lost, messages);
      announce(lost.log());
    }
    return receipts.toList();
  }

  @Override
  public List<Produced> writeAgain(List<ReadyMessage> messages, OutcomeUnknownException lost) {
    return lostCommits.sendAgain(messages, lost).toList();
  }

  private Receipts write(List<ReadyMessage> messages, Bounds bounds) {
    return attempts.run(streams.get(), bounds, messages, log -> write(log, bounds, messages));
  }

  private Receipts write(TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    Receipts receipts;
    try {
      receipts =
          database.autoCommitted(
              Refusals.what(log.stream().name()),
              connection -> write(connection, log, bounds, messages));
    } catch (Undone e) {
      throw e.reason;
    }
    announce(log);
    return receipts;
  }

  private static Receipts write(
      Connection connection, TargetLog log, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    Receipts receipts;
    try {
      receipts = LogWriter.write(connection, log, bounds, messages);
    } catch (SQLException e) {
      throw new Undone(e);
    }
    LogWriter.compare(connection, log, bounds, messages, receipts);
    return receipts;
  }

  /**
   * Takes the server's refusal past the translation that suits other statements, once the
   * connection is clean again.
   */
  private static final class Undone extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final SQLException reason;

    Undone(SQLException reason) {
      super(reason);
      this.reason = reason;
    }
  }
}
