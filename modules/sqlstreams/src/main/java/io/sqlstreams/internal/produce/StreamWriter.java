package io.sqlstreams.internal.produce;

import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.LongConsumer;

/**
 * What all producers of one stream name share: the log behind the name, and the group commit.
 * Thread-safe.
 */
final class StreamWriter {
  private final Database database;
  private final StreamCache streams;
  private final Attempts attempts;
  private final GroupCommit groupCommit;
  private final LongConsumer produced;

  StreamWriter(
      Database database,
      Scope system,
      StreamResolver resolver,
      PartitionHealer healer,
      Executor executor,
      LongConsumer produced,
      String name) {
    this.database = database;
    this.streams = new StreamCache(resolver, system, name);
    this.attempts = new Attempts(database, healer, streams, system.schema());
    this.groupCommit =
        new GroupCommit(
            "the client, and with it the producer of stream \"" + name + "\",",
            this::write,
            executor,
            PendingMessages.Limits.DEFAULTS);
    this.produced = produced;
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
   * @throws OutcomeUnknownException when the connection broke while the commit was under way
   */
  long[] write(List<ReadyMessage> messages) {
    return attempts.run(streams.get(), Bounds.TRANSACTION, messages, log -> write(log, messages));
  }

  private long[] write(TargetLog log, List<ReadyMessage> messages) throws SQLException {
    long[] ids;
    try {
      ids =
          database.autoCommitted(
              Refusals.what(log.stream().name()),
              connection -> {
                try {
                  return LogWriter.write(connection, log, Bounds.TRANSACTION, messages);
                } catch (SQLException e) {
                  throw new Undone(e);
                }
              });
    } catch (Undone e) {
      throw e.reason;
    }
    announce(log);
    return ids;
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
