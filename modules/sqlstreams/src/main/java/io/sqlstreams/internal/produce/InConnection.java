package io.sqlstreams.internal.produce;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.TransactionProducer;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.error.InvalidInputException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;

/**
 * Writes through the caller's connection, each write within a savepoint; see {@link
 * TransactionProducer}.
 */
final class InConnection<T> implements TransactionProducer<T> {
  private final StreamWriter writer;
  private final MessageEncoder<T> encoder;
  private final Connection connection;

  InConnection(StreamWriter writer, MessageEncoder<T> encoder, Connection connection) {
    this.writer = writer;
    this.encoder = encoder;
    this.connection = connection;
  }

  @Override
  public Produced produce(T payload, ProduceOptions options) {
    writer.groupCommit().requireOpen();
    ReadyMessage ready = encoder.encode(payload, options);
    return write(List.of(ready)).get(0);
  }

  @Override
  public Produced produceTombstone(ProduceOptions options) {
    writer.groupCommit().requireOpen();
    ReadyMessage ready = encoder.encodeTombstone(options);
    return write(List.of(ready)).get(0);
  }

  @Override
  public List<Produced> produceAll(List<Outgoing<T>> messages) {
    writer.groupCommit().requireOpen();
    List<ReadyMessage> ready = encoder.encodeAll(messages);
    return ready.isEmpty() ? List.of() : write(ready);
  }

  private List<Produced> write(List<ReadyMessage> messages) {
    BorrowedConnection borrowed =
        BorrowedConnection.of(connection, Refusals.what(writer.streams().name()));
    try {
      return writer.database().borrowing(connection, c -> write(borrowed, messages));
    } catch (SQLException e) {
      throw writer.attempts().refusal(e);
    }
  }

  private List<Produced> write(BorrowedConnection borrowed, List<ReadyMessage> messages) {
    Bounds bounds = borrowed.bounds();
    TargetLog target;
    try {
      target = writer.streams().get(connection, bounds);
    } catch (SQLException e) {
      throw writer.attempts().refusal(e);
    }
    checkAll(messages, target);
    try {
      return writer
          .attempts()
          .run(target, bounds, messages, log -> write(log, borrowed, bounds, messages))
          .toList();
    } catch (LostCommit lost) {
      throw lost.unknown(); // another connection isn't the caller's
    }
  }

  private Receipts write(
      TargetLog log, BorrowedConnection borrowed, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    Receipts receipts;
    try {
      receipts = LogWriter.write(connection, log, bounds, messages);
    } catch (Throwable e) {
      borrowed.undo(bounds, e);
      throw e;
    }
    if (bounds.isTransaction()) {
      writer.announce(log);
    }
    // should it fail, the caller's transaction can only be rolled back, and the messages with it
    LogWriter.compare(connection, log, bounds, messages, receipts);
    return receipts;
  }

  private static void checkAll(List<ReadyMessage> messages, TargetLog target)
      throws InvalidInputException {
    if (messages.size() == 1) {
      MessageChecks.payload(messages.get(0).payload(), target.stream().config());
    } else {
      MessageEncoder.checkAll(messages, target.stream().config());
    }
  }
}
