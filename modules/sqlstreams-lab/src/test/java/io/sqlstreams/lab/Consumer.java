package io.sqlstreams.lab;

import io.sqlstreams.Consumption;
import io.sqlstreams.ConsumptionCounters;
import io.sqlstreams.Message;
import io.sqlstreams.MessageHandler;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A consumption in this JVM that keeps what it was given, in order. */
public final class Consumer implements AutoCloseable {
  /** Leases and pauses short enough for a test. */
  public static final ConsumeOptions QUICK =
      ConsumeOptions.defaults()
          .withHandlers(4)
          .withLease(Duration.ofSeconds(2), Duration.ofMillis(400))
          .withPollInterval(Duration.ofMillis(20));

  private final SqlStreams client;
  private final Consumption consumption;
  private final List<Message<RawPayload>> received = new CopyOnWriteArrayList<>();

  private Consumer(
      SqlStreams client,
      TestStream stream,
      MessageHandler<RawPayload> handler,
      ConsumeOptions options) {
    this.client = client;
    this.consumption =
        client.stream(stream.name())
            .group(stream.group().name())
            .consume(
                message -> {
                  received.add(message);
                  return handler.handle(message);
                },
                options);
  }

  public static Consumer start(
      SqlStreams client, TestStream stream, MessageHandler<RawPayload> handler) {
    return start(client, stream, handler, QUICK);
  }

  public static Consumer start(
      SqlStreams client,
      TestStream stream,
      MessageHandler<RawPayload> handler,
      ConsumeOptions options) {
    return new Consumer(client, stream, handler, options);
  }

  public List<Message<RawPayload>> received() {
    return received;
  }

  public List<Long> ids() {
    return received.stream().map(Message::id).toList();
  }

  public void awaitReceived(int messages) {
    Await.until(messages + " messages are received", () -> received.size() >= messages);
  }

  public Consumption consumption() {
    return consumption;
  }

  public ConsumptionCounters counters() {
    return consumption.counters();
  }

  public SqlStreams client() {
    return client;
  }

  @Override
  public void close() {
    consumption.stop();
  }
}
