package io.sqlstreams.internal.produce;

import io.sqlstreams.Produced;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Writes the messages of schedules, as part of an open transaction of the library's own. Streams
 * are known by their ids here, so whatever is renamed meanwhile, a message goes where it belongs.
 * Thread-safe.
 */
public final class PlannedWriter {
  /** Schedules of more streams than this have their statements made again now and then. */
  private static final int MOST_KNOWN = 1_000;

  private final Database database;
  private final Scope system;
  private final PartitionHealer healer;
  private final Map<Long, Target> targets = new ConcurrentHashMap<>();

  private record Target(StreamInfo stream, TargetLog log, Attempts attempts) {}

  /**
   * @param system the installation
   */
  public PlannedWriter(Database database, Scope system, PartitionHealer healer) {
    this.database = database;
    this.system = system;
    this.healer = healer;
  }

  /**
   * The bytes of this payload.
   *
   * @throws InvalidInputException when it is null, or the codec can't write it
   */
  public static <T> byte[] encode(@Nullable T payload, PayloadCodec<T> codec) {
    return new MessageEncoder<>(codec).payload(payload);
  }

  /**
   * Checks what doesn't depend on the stream, before anything is sent.
   *
   * @throws InvalidInputException when no stream would take the message
   */
  public static void check(PlannedMessage message) {
    MessageEncoder.encoded(
        message.schemaVersion(), message.payload(), message.options(), message.run());
  }

  /**
   * Checks all that a write checks, writing nothing.
   *
   * @throws InvalidInputException when the stream wouldn't take the message
   */
  public void check(Connection connection, StreamInfo stream, PlannedMessage message) {
    ready(stream, message);
    try (Call call =
        (switch (stream.config().payloadType()) {
              case JSON -> ProduceSql.CHECK_JSON;
              case JSONB -> ProduceSql.CHECK_JSONB;
              case BYTEA -> ProduceSql.CHECK_BYTES;
            })
            .in(system)
            .on(connection)) {
      call.set("payload", message.payload()).query();
    } catch (SQLException e) {
      throw Refusals.translate(stream.name(), system.schema(), e);
    }
  }

  /**
   * Writes these messages, whole or not at all; when it fails, the transaction goes on as it was
   * before. They become visible at its commit, after which the stream's consumers want to be woken.
   *
   * @return their receipts, in their order
   * @throws InvalidInputException when the stream doesn't take one of them
   */
  public List<Produced> write(
      Connection connection, StreamInfo stream, List<PlannedMessage> messages) {
    List<ReadyMessage> ready = messages.stream().map(message -> ready(stream, message)).toList();
    Target target = target(stream);
    BorrowedConnection borrowed = BorrowedConnection.of(connection, Refusals.what(stream.name()));
    return target
        .attempts()
        .run(target.log(), Bounds.SAVEPOINT, ready, log -> write(connection, borrowed, log, ready))
        .toList();
  }

  private static Receipts write(
      Connection connection, BorrowedConnection borrowed, TargetLog log, List<ReadyMessage> ready)
      throws SQLException {
    try {
      return LogWriter.write(connection, log, Bounds.SAVEPOINT, ready);
    } catch (Throwable e) {
      borrowed.undo(Bounds.SAVEPOINT, e);
      throw e;
    }
  }

  private static ReadyMessage ready(StreamInfo stream, PlannedMessage message) {
    ReadyMessage ready =
        MessageEncoder.encoded(
            message.schemaVersion(), message.payload(), message.options(), message.run());
    MessageChecks.payload(ready.payload(), stream.config());
    return ready;
  }

  private Target target(StreamInfo stream) {
    Target known = targets.get(stream.id());
    if (known != null && known.stream().equals(stream)) {
      return known;
    }
    if (targets.size() >= MOST_KNOWN) {
      targets.clear();
    }
    StreamCache streams = new StreamCache(name -> stream, system, stream.name());
    Target target =
        new Target(stream, streams.get(), new Attempts(database, healer, streams, system.schema()));
    targets.put(stream.id(), target);
    return target;
  }
}
