package io.sqlstreams.internal.client;

import io.sqlstreams.HeadChange;
import io.sqlstreams.KeyedMessage;
import io.sqlstreams.MessageKey;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.UnreadableMessageException;
import io.sqlstreams.internal.codec.PayloadReader;
import io.sqlstreams.internal.head.Head;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.produce.Producers;
import java.sql.Connection;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A message key by its stream's name. */
final class NamedKey<T> implements MessageKey<T> {
  private final Parts parts;
  private final String stream;
  private final String key;
  private final PayloadReader<T> reader;

  NamedKey(Parts parts, String stream, String key, PayloadReader<T> reader) {
    this.parts = parts;
    this.stream = stream;
    this.key = key;
    this.reader = reader;
  }

  @Override
  public String key() {
    return key;
  }

  @Override
  public Optional<KeyedMessage<T>> head() {
    return message(parts.heads().read(requireStream(), key));
  }

  @Override
  public List<KeyedMessage<T>> messages(int most) {
    if (most < 1 || most > MAX_MESSAGES) {
      throw new InvalidInputException(
          "most", "must be from 1 to " + MAX_MESSAGES + ", not " + most);
    }
    return parts.heads().messages(requireStream(), key, most).stream().map(this::decode).toList();
  }

  @Override
  public Optional<KeyedMessage<T>> lockHead(Connection connection) {
    Producers.requireTransaction(connection, "locking a key of stream \"" + stream + "\"");
    return message(parts.heads().lock(requireStreamOn(connection), connection, key));
  }

  @Override
  public Optional<Produced> change(Function<Optional<KeyedMessage<T>>, HeadChange<T>> change) {
    StreamInfo in = requireStream();
    Optional<Produced> produced =
        parts.heads().inTransaction(in, connection -> change(in, connection, change));
    produced.ifPresent(receipt -> parts.waking().tell(in.id()));
    return produced;
  }

  @Override
  public Optional<Produced> change(
      Connection connection, Function<Optional<KeyedMessage<T>>, HeadChange<T>> change) {
    Producers.requireTransaction(connection, "updating a key of stream \"" + stream + "\"");
    return change(requireStreamOn(connection), connection, change);
  }

  private Optional<Produced> change(
      StreamInfo in,
      Connection connection,
      Function<Optional<KeyedMessage<T>>, HeadChange<T>> change) {
    Optional<Head> head = parts.heads().lock(in, connection, key);
    head.ifPresent(this::requireReplaceable);
    HeadChange<T> wanted = change.apply(message(head));
    return wanted instanceof HeadChange.Put<T> put
        ? Optional.of(produce(connection, head, put.message()))
        : Optional.empty();
  }

  private Produced produce(Connection connection, Optional<Head> head, Outgoing<T> next) {
    ProduceOptions options = next.options().withKey(key);
    @Nullable Long wished = options.compactionRank();
    long rank = head.map(Head::rank).orElse(wished == null ? 0 : wished);
    ProduceOptions winning = options.withCompaction(wished == null ? rank : Math.max(rank, wished));
    PayloadCodec<T> codec = reader.codec();
    // a handle of every version goes on with the head's
    int schemaVersion =
        reader.versions() == null
            ? head.map(Head::schemaVersion).orElse(codec.schemaVersion())
            : codec.schemaVersion();
    return parts
        .producers()
        .create(stream, new Versioned<>(codec, schemaVersion))
        .in(connection)
        .produceAll(List.of(new Outgoing<>(next.payload(), winning, next.tombstone())))
        .get(0);
  }

  /** A message of a smaller schema version would lose, whatever its rank. */
  private void requireReplaceable(Head head) {
    if (reader.versions() != null && head.schemaVersion() > reader.codec().schemaVersion()) {
      throw unreadable(head.id(), head.schemaVersion(), null);
    }
  }

  private Optional<KeyedMessage<T>> message(Optional<Head> head) {
    return head.map(Head::message).map(this::decode);
  }

  private KeyedMessage<T> decode(StoredMessage stored) {
    return new KeyedMessage<>(
        stored.id(),
        payload(stored),
        stored.schemaVersion(),
        stored.compactionRank(),
        stored.routingKey(),
        stored.headers(),
        stored.createdAt());
  }

  private @Nullable T payload(StoredMessage stored) {
    byte[] payload = stored.payload();
    if (payload == null) {
      return null;
    }
    if (!reader.reads(stored.schemaVersion())) {
      throw unreadable(stored.id(), stored.schemaVersion(), null);
    }
    try {
      return reader.decode(stored.schemaVersion(), payload);
    } catch (Exception e) {
      throw unreadable(stored.id(), stored.schemaVersion(), e);
    }
  }

  private UnreadableMessageException unreadable(
      long id, int schemaVersion, @Nullable Exception cause) {
    String problem =
        cause == null
            ? "it has schema version " + schemaVersion + ", and this handle reads " + reader.told()
            // the kind alone: a parser's message quotes the payload, so it stays in the cause
            : "the codec can't read it (" + cause.getClass().getName() + ")";
    return new UnreadableMessageException(stream, id, problem, cause);
  }

  private StreamInfo requireStream() {
    parts.requireOpen();
    Producers.requireMessageKey(key);
    return parts.catalog().requireStream(stream);
  }

  private StreamInfo requireStreamOn(Connection connection) {
    parts.requireOpen();
    Producers.requireMessageKey(key);
    return parts.catalog().requireStreamOn(connection, stream);
  }

  /** Writes what a codec writes as this schema version. */
  private record Versioned<T>(PayloadCodec<T> codec, int schemaVersion) implements PayloadCodec<T> {
    @Override
    public byte[] encode(T payload) throws Exception {
      return codec.encode(payload);
    }

    @Override
    public T decode(byte[] bytes) throws Exception {
      return codec.decode(bytes);
    }
  }
}
