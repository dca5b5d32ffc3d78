package io.sqlstreams.internal.client;

import io.sqlstreams.BatchHandler;
import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.ExceptionQueue;
import io.sqlstreams.GroupBindings;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.GroupSnapshot;
import io.sqlstreams.LeaseInfo;
import io.sqlstreams.MessageHandler;
import io.sqlstreams.Rewind;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.TransactionalHandler;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Start;
import io.sqlstreams.internal.codec.PayloadReader;
import io.sqlstreams.internal.dispatch.BatchRunner;
import io.sqlstreams.internal.dispatch.Runner;
import io.sqlstreams.internal.dispatch.SingleRunner;
import io.sqlstreams.internal.dispatch.TransactionalRunner;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.BiFunction;

/** A consumer group by its name. */
final class NamedGroup<T> implements ConsumerGroup<T> {
  private final Parts parts;
  private final String stream;
  private final String name;
  private final PayloadReader<T> reader;

  NamedGroup(Parts parts, String stream, String name, PayloadReader<T> reader) {
    this.parts = parts;
    this.stream = stream;
    this.name = name;
    this.reader = reader;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public GroupInfo register(GroupConfig config) {
    parts.requireOpen();
    return parts.groups().register(stream, name, config, reader.versions());
  }

  @Override
  public Optional<GroupInfo> get() {
    parts.requireOpen();
    return parts.catalog().group(parts.catalog().requireStream(stream), name);
  }

  @Override
  public GroupInfo rename(String newName) {
    parts.requireOpen();
    return parts.groups().rename(stream, name, newName);
  }

  @Override
  public void destroy() {
    parts.requireDestroyAllowed("group \"" + name + "\" of stream \"" + stream + "\"");
    parts.groups().destroy(stream, name);
  }

  @Override
  public GroupBindings bindings() {
    return onRegistered(parts.catalog()::bindings);
  }

  @Override
  public GroupSnapshot snapshot() {
    return onRegistered(parts.snapshots()::take);
  }

  @Override
  public List<LeaseInfo> leases() {
    return onRegistered(parts.leases()::list);
  }

  @Override
  public int releaseLeases(UUID session) {
    return onRegistered(
        (in, group) -> {
          int released = parts.leases().release(in, group, session);
          if (released > 0) {
            parts.waking().tell(in.id());
          }
          return released;
        });
  }

  @Override
  public ExceptionQueue exceptions() {
    return new NamedExceptions(parts, stream, name);
  }

  @Override
  public Rewind rewind(Start start) {
    return onRegistered((in, group) -> parts.rewinder().rewind(in, group, start));
  }

  @Override
  public Rewind previewRewind(Start start) {
    return onRegistered((in, group) -> parts.rewinder().preview(in, group, start));
  }

  @Override
  public Consumption consume(MessageHandler<T> handler, ConsumeOptions options) {
    return start(SingleRunner.of(reader, handler), options);
  }

  @Override
  public Consumption consumeBatches(BatchHandler<T> handler, ConsumeOptions options) {
    return start(BatchRunner.of(reader, handler), options);
  }

  @Override
  public Consumption consumeTransactional(TransactionalHandler<T> handler, ConsumeOptions options) {
    return start(TransactionalRunner.of(reader, handler), options);
  }

  private Consumption start(Runner.Factory handlers, ConsumeOptions options) {
    return onRegistered(
        (in, group) -> {
          Consumption running = parts.sessions().start(in, group, handlers, options);
          parts.fleet().carry();
          return running;
        });
  }

  /** Resolves both names, then does it. */
  private <R> R onRegistered(BiFunction<StreamInfo, GroupInfo, R> verb) {
    return parts.onRegistered(stream, name, verb);
  }
}
