package io.sqlstreams.cli.demo;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.codec.RawPayload;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The producers: threads that send the deliveries over and over until there are enough. Closing it
 * stops them.
 */
final class Load implements AutoCloseable {
  /** How many messages each thread has on their way at once. */
  private static final int WINDOW = 32;

  private static final long STOP_LIMIT_SECONDS = 10;

  private final Producer<RawPayload> producer;
  private final List<Outgoing<RawPayload>> messages;
  private final long target;
  private final AtomicLong next = new AtomicLong();
  private final AtomicLong acknowledged = new AtomicLong();
  private final Tally ids = new Tally();
  private final ExecutorService threads;
  private final List<Future<?>> runs;

  private Load(Producer<RawPayload> producer, List<Delivery> deliveries, long target, int threads) {
    this.producer = producer;
    this.messages = deliveries.stream().map(Delivery::message).toList();
    this.target = target;
    this.threads = Executors.newFixedThreadPool(threads);
    this.runs =
        IntStream.range(0, threads)
            .<Future<?>>mapToObj(i -> this.threads.submit(this::produce))
            .toList();
  }

  static Load start(
      Producer<RawPayload> producer, List<Delivery> deliveries, long target, int threads) {
    return new Load(producer, deliveries, target, threads);
  }

  private void produce() {
    Deque<CompletableFuture<Produced>> onTheirWay = new ArrayDeque<>();
    for (long i = next.getAndIncrement(); i < target; i = next.getAndIncrement()) {
      if (onTheirWay.size() == WINDOW) {
        acknowledge(onTheirWay.remove());
      }
      Outgoing<RawPayload> message = messages.get((int) (i % messages.size()));
      onTheirWay.add(producer.produceAsync(message.payload(), message.options()));
    }
    onTheirWay.forEach(this::acknowledge);
  }

  private void acknowledge(CompletableFuture<Produced> produced) {
    long id = produced.join().id();
    synchronized (ids) {
      ids.add(id);
    }
    acknowledged.incrementAndGet();
  }

  /** How many messages the database has taken so far. */
  long acknowledged() {
    return acknowledged.get();
  }

  /**
   * Whether every message has been acknowledged.
   *
   * @throws RuntimeException what a producer failed with
   */
  boolean finished() throws InterruptedException {
    List<Future<?>> ended = runs.stream().filter(Future::isDone).toList();
    for (Future<?> run : ended) {
      try {
        run.get();
      } catch (ExecutionException e) {
        throw unwrapped(e);
      }
    }
    return ended.size() == runs.size();
  }

  private static RuntimeException unwrapped(Throwable e) {
    @Nullable Throwable cause = e.getCause();
    if (cause instanceof CompletionException) {
      return unwrapped(cause);
    }
    return cause instanceof RuntimeException failure ? failure : new IllegalStateException(cause);
  }

  /** The ids that were acknowledged. Complete once {@link #finished()} is true. */
  Tally ids() {
    return ids;
  }

  @Override
  public void close() {
    next.set(target);
    threads.shutdown();
    try {
      threads.awaitTermination(STOP_LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
