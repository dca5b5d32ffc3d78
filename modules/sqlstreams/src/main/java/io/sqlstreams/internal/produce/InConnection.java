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
    return StreamProducer.receipts(write(List.of(ready))).get(0);
  }

  @Override
  public List<Produced> produceAll(List<Outgoing<T>> messages) {
    writer.groupCommit().requireOpen();
    List<ReadyMessage> ready = encoder.encodeAll(messages);
    return ready.isEmpty() ? List.of() : StreamProducer.receipts(write(ready));
  }

  private long[] write(List<ReadyMessage> messages) {
    String stream = writer.streams().name();
    BorrowedConnection borrowed = BorrowedConnection.of(connection, Refusals.what(stream));
    Bounds bounds = borrowed.bounds();
    TargetLog target;
    try {
      target = writer.streams().get(connection, bounds);
    } catch (SQLException e) {
      throw writer.attempts().refusal(e);
    }
    checkAll(messages, target);
    return writer
        .attempts()
        .run(target, bounds, messages, log -> write(log, borrowed, bounds, messages));
  }

  private long[] write(
      TargetLog log, BorrowedConnection borrowed, Bounds bounds, List<ReadyMessage> messages)
      throws SQLException {
    long[] ids;
    try {
      ids = LogWriter.write(connection, log, bounds, messages);
    } catch (Throwable e) {
      borrowed.undo(bounds, e);
      throw e;
    }
    if (bounds == Bounds.TRANSACTION) {
      writer.announce(log);
    }
    return ids;
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
