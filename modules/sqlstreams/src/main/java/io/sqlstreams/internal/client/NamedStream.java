package io.sqlstreams.internal.client;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.HeadSweep;
import io.sqlstreams.MessageInfo;
import io.sqlstreams.MessageKey;
import io.sqlstreams.Producer;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.StreamUpkeep;
import io.sqlstreams.UpkeepRun;
import io.sqlstreams.VersionInfo;
import io.sqlstreams.WorkerHandle;
import io.sqlstreams.WorkerInfo;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.codec.Codecs;
import io.sqlstreams.internal.codec.PayloadReader;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** A stream by its name. */
final class NamedStream<T> implements StreamHandle<T> {
  private final Parts parts;
  private final String name;
  private final PayloadReader<T> reader;

  NamedStream(Parts parts, String name, PayloadReader<T> reader) {
    this.parts = parts;
    this.name = name;
    this.reader = reader;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public StreamInfo register(StreamConfig config) {
    parts.requireOpen();
    return parts.streams().register(name, config);
  }

  @Override
  public Optional<StreamInfo> get() {
    parts.requireOpen();
    return parts.catalog().stream(name);
  }

  @Override
  public StreamInfo rename(String newName) {
    parts.requireOpen();
    return parts.streams().rename(name, newName);
  }

  @Override
  public void destroy() {
    parts.requireDestroyAllowed("stream \"" + name + "\"");
    parts.streams().destroy(name);
  }

  @Override
  public <U> StreamHandle<T> upgrade(
      int version, Class<U> type, Function<? super U, ? extends T> upcaster) {
    return upgraded(version, Codecs.ofVersion(version, type), upcaster);
  }

  @Override
  public <U> StreamHandle<T> upgrade(
      int version, PayloadCodec<U> codec, Function<? super U, ? extends T> upcaster) {
    return upgraded(version, Codecs.guarded(codec), upcaster);
  }

  private <U> StreamHandle<T> upgraded(
      int version, PayloadCodec<U> codec, Function<? super U, ? extends T> upcaster) {
    return new NamedStream<>(parts, name, reader.upgrading(version, codec, upcaster));
  }

  @Override
  public Producer<T> producer() {
    return parts.producers().create(name, reader.codec());
  }

  @Override
  public MessageKey<T> key(String key) {
    return new NamedKey<>(parts, name, key, reader);
  }

  @Override
  public HeadSweep sweepHeads() {
    parts.requireOpen();
    return parts.heads().sweep(parts.catalog().requireStream(name));
  }

  @Override
  public StreamUpkeep upkeep() {
    parts.requireOpen();
    return parts.upkeep().of(parts.catalog().requireStream(name));
  }

  @Override
  public UpkeepRun runUpkeep() {
    parts.requireOpen();
    return parts.janitor().run(parts.catalog().requireStream(name));
  }

  @Override
  public ConsumerGroup<T> group(String group) {
    return new NamedGroup<>(parts, name, group, reader);
  }

  @Override
  public List<GroupInfo> groups() {
    parts.requireOpen();
    return parts.catalog().groups(parts.catalog().requireStream(name));
  }

  @Override
  public WorkerHandle worker(String worker) {
    return new NamedWorker(parts, name, worker);
  }

  @Override
  public List<WorkerInfo> workers() {
    parts.requireOpen();
    return parts.workers().list(parts.catalog().requireStream(name));
  }

  @Override
  public List<VersionInfo> versions() {
    parts.requireOpen();
    return parts.versions().list(parts.catalog().requireStream(name));
  }

  @Override
  public Optional<MessageInfo> message(long id) {
    parts.requireOpen();
    if (id < 1) {
      throw new InvalidInputException("id", "must be 1 or above, not " + id);
    }
    return parts.lookup().find(parts.catalog().requireStream(name), id);
  }
}
