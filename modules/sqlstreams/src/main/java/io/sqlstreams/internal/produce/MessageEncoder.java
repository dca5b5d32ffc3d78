package io.sqlstreams.internal.produce;

import io.sqlstreams.Outgoing;
import io.sqlstreams.ScheduledRun;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.document.MessageOptions;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Makes messages ready: checks them and turns payloads into bytes.
 *
 * @param <T> the payload's type
 */
final class MessageEncoder<T> {
  private final PayloadCodec<T> codec;

  MessageEncoder(PayloadCodec<T> codec) {
    this.codec = codec;
  }

  /**
   * One message, checked but for what depends on its stream. The arguments may be null, whatever
   * their types say.
   */
  ReadyMessage encode(@Nullable T payload, @Nullable ProduceOptions options) {
    T given = given(payload);
    ProduceOptions checked = checked(options);
    return ready(bytes(given), checked, checked.compactionRank());
  }

  /** One tombstone, checked. The argument may be null, whatever its type says. */
  ReadyMessage encodeTombstone(@Nullable ProduceOptions options) {
    ProduceOptions checked = checked(options);
    ProduceOptions compacted = checked.isCompacted() ? checked : checked.withCompaction();
    MessageChecks.compaction(compacted);
    return ready(null, compacted, compacted.compactionRank());
  }

  /** The bytes of a payload, which may be null, whatever its type says. */
  byte[] payload(@Nullable T payload) {
    return bytes(given(payload));
  }

  private static <T> T given(@Nullable T payload) {
    if (payload == null) {
      throw new InvalidInputException(
          "payload", "it is null: give a payload, or produce a tombstone to delete a key");
    }
    return payload;
  }

  /** One message of a schedule whose payload is encoded already, checked as others are. */
  static ReadyMessage encoded(
      int schemaVersion, byte[] payload, ProduceOptions options, ScheduledRun run) {
    return ready(schemaVersion, payload, checked(options), options.compactionRank(), run);
  }

  private static ProduceOptions checked(@Nullable ProduceOptions options) {
    if (options == null) {
      throw new InvalidInputException("options", "they are null: use ProduceOptions.defaults()");
    }
    MessageChecks.key("messageKey", options.key());
    MessageChecks.key("routingKey", options.routingKey());
    MessageChecks.key("idempotencyKey", options.idempotencyKey());
    MessageChecks.headers(options.headers());
    MessageChecks.concurrency(options);
    MessageChecks.compaction(options);
    return options;
  }

  private ReadyMessage ready(
      byte @Nullable [] payload, ProduceOptions options, @Nullable Long compactionRank) {
    return ready(codec.schemaVersion(), payload, options, compactionRank, null);
  }

  private static ReadyMessage ready(
      int schemaVersion,
      byte @Nullable [] payload,
      ProduceOptions options,
      @Nullable Long compactionRank,
      @Nullable ScheduledRun run) {
    return new ReadyMessage(
        schemaVersion,
        options.routingKey(),
        options.key(),
        payload,
        options.headers().isEmpty() ? null : HeadersJson.of(options.headers()),
        MessageOptions.write(options, run),
        IdempotencyKeys.uuid(options.idempotencyKey()),
        compactionRank);
  }

  /**
   * All of these messages, checked but for what depends on their stream; what is wrong with one
   * names its place.
   */
  List<ReadyMessage> encodeAll(@Nullable List<Outgoing<T>> messages) {
    if (messages == null) {
      throw new InvalidInputException("messages", "they are null: give a list");
    }
    List<ReadyMessage> ready = new ArrayList<>(messages.size());
    for (@Nullable Outgoing<T> message : messages) {
      int place = ready.size();
      if (message == null) {
        throw new InvalidInputException("messages[" + place + "]", "it is null: give a message");
      }
      try {
        ready.add(
            message.tombstone()
                ? encodeTombstone(message.options())
                : encode(message.payload(), message.options()));
      } catch (InvalidInputException e) {
        throw at(place, e);
      }
    }
    return ready;
  }

  /** Checks what depends on the stream. */
  static void checkAll(List<ReadyMessage> messages, StreamConfig config) {
    for (int place = 0; place < messages.size(); place++) {
      try {
        MessageChecks.payload(messages.get(place).payload(), config);
      } catch (InvalidInputException e) {
        throw at(place, e);
      }
    }
  }

  private static InvalidInputException at(int place, InvalidInputException e) {
    String problem = String.valueOf(e.getMessage()).substring(e.field().length() + ": ".length());
    return new InvalidInputException(
        e.field(), problem + " (messages[" + place + "])", e.getCause());
  }

  private byte[] bytes(T payload) {
    byte @Nullable [] bytes;
    try {
      bytes = codec.encode(payload);
    } catch (Exception | StackOverflowError e) {
      if (e instanceof InterruptedException) {
        Thread.currentThread().interrupt();
      }
      // the codec's message may quote the payload, so it stays in the cause
      throw new InvalidInputException(
          "payload", "the codec can't write it (" + e.getClass().getName() + "): see the cause", e);
    }
    if (bytes == null) {
      throw new InvalidInputException("payload", "the codec wrote null: it must write bytes");
    }
    return bytes;
  }
}
