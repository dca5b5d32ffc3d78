package io.sqlstreams.internal.produce;

import io.sqlstreams.Producer;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The producers of one client: those of the same stream name commit their messages together.
 * Thread-safe.
 */
public final class Producers {
  private final Database database;
  private final Scope system;
  private final StreamResolver resolver;
  private final PartitionHealer healer;
  private final Executor executor;
  private final LongConsumer produced;
  private final Function<Scope, String> announcement;
  private final Map<String, StreamWriter> writers = new ConcurrentHashMap<>();
  private volatile boolean closed;

  /**
   * @param system the installation
   * @param executor has a thread for every task at once: a task lasts as long as messages come
   * @param produced is given the stream's id after each commit of the library's own; it must return
   *     at once
   * @param announcement the command that a write in the caller's transaction runs before, for its
   *     stream; empty for none
   */
  public Producers(
      Database database,
      Scope system,
      StreamResolver resolver,
      PartitionHealer healer,
      Executor executor,
      LongConsumer produced,
      Function<Scope, String> announcement) {
    this.database = database;
    this.system = system;
    this.resolver = resolver;
    this.healer = healer;
    this.executor = executor;
    this.produced = produced;
    this.announcement = announcement;
  }

  /**
   * A producer. No I/O.
   *
   * @param stream the stream's name
   */
  public <T> Producer<T> create(String stream, PayloadCodec<T> codec) {
    return new StreamProducer<>(writer(stream), codec);
  }

  /**
   * Checks a message key as a producer does.
   *
   * @throws InvalidInputException when it is null or breaks the rules of message keys
   */
  public static void requireMessageKey(@Nullable String key) {
    if (key == null) {
      throw new InvalidInputException("messageKey", "it is null: name a key");
    }
    MessageChecks.key("messageKey", key);
  }

  /**
   * Checks that a caller's connection is usable, and in a transaction that outlasts a statement.
   *
   * @param what what is to be done, for messages
   * @throws InvalidInputException when it isn't
   */
  public static void requireTransaction(@Nullable Connection connection, String what) {
    if (connection == null) {
      throw new InvalidInputException(
          "connection", "it is null: give the connection of your transaction");
    }
    if (BorrowedConnection.of(connection, what).bounds().isTransaction()) {
      throw new InvalidInputException(
          "connection",
          "it is in auto-commit mode, so the lock would end at once: begin a transaction first");
    }
  }

  /**
   * Refuses further messages, and waits until those that were taken are written. What is still
   * queued after the wait fails as closed. Idempotent. The executor must outlast it.
   */
  public void close(Duration wait) {
    closed = true;
    long end = System.nanoTime() + wait.toNanos();
    for (StreamWriter writer : writers.values()) {
      writer.groupCommit().close(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
    }
  }

  private StreamWriter writer(String stream) {
    StreamWriter writer =
        writers.computeIfAbsent(
            stream,
            name ->
                new StreamWriter(
                    database,
                    new StreamCache(resolver, system, announcement, name),
                    healer,
                    system.schema(),
                    executor,
                    produced,
                    name));
    if (closed) { // it may have come after the others were closed
      writer.groupCommit().close(Duration.ZERO);
    }
    return writer;
  }
}
