package io.sqlstreams.internal.produce;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.TransactionProducer;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.error.InvalidInputException;
import java.sql.Connection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The producer of one stream and payload type. */
final class StreamProducer<T> implements Producer<T> {
  private final StreamWriter writer;
  private final MessageEncoder<T> encoder;

  StreamProducer(StreamWriter writer, PayloadCodec<T> codec) {
    this.writer = writer;
    this.encoder = new MessageEncoder<>(codec);
  }

  @Override
  public Produced produce(T payload, ProduceOptions options) {
    return writer.groupCommit().produce(ready(() -> encoder.encode(payload, options)));
  }

  @Override
  public CompletableFuture<Produced> produceAsync(T payload, ProduceOptions options) {
    return writer.groupCommit().produceAsync(ready(() -> encoder.encode(payload, options)));
  }

  @Override
  public Produced produceTombstone(ProduceOptions options) {
    return writer.groupCommit().produce(ready(() -> encoder.encodeTombstone(options)));
  }

  @Override
  public CompletableFuture<Produced> produceTombstoneAsync(ProduceOptions options) {
    return writer.groupCommit().produceAsync(ready(() -> encoder.encodeTombstone(options)));
  }

  @Override
  public List<Produced> produceAll(List<Outgoing<T>> messages) {
    writer.groupCommit().requireOpen();
    List<ReadyMessage> ready = encoder.encodeAll(messages);
    if (ready.isEmpty()) {
      return List.of();
    }
    MessageEncoder.checkAll(ready, writer.streams().get().stream().config());
    return writer.write(ready);
  }

  @Override
  public TransactionProducer<T> in(@Nullable Connection connection) {
    if (connection == null) {
      throw new InvalidInputException(
          "connection", "it is null: give the connection of your transaction");
    }
    return new InConnection<>(writer, encoder, connection);
  }

  private ReadyMessage ready(Supplier<ReadyMessage> encoding) {
    writer.groupCommit().requireOpen();
    ReadyMessage ready = encoding.get();
    MessageChecks.payload(ready.payload(), writer.streams().get().stream().config());
    return ready;
  }
}
