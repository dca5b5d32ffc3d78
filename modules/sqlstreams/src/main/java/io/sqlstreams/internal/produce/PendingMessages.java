package io.sqlstreams.internal.produce;

import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;

/**
 * The messages that are queued or in flight, and how many there may be. For one thread at a time.
 */
final class PendingMessages {
  /**
   * How many messages may be where.
   *
   * @param batchMessages the most that one transaction takes
   * @param batchBytes as much, in bytes; one message is always taken
   * @param pendingMessages the most that may be queued or in flight before an asynchronous caller
   *     waits
   * @param pendingBytes as much, in bytes; one message is always taken
   */
  record Limits(int batchMessages, long batchBytes, int pendingMessages, long pendingBytes) {
    static final Limits DEFAULTS =
        new Limits(2_000, 8 << 20, Producer.MAX_PENDING_MESSAGES, 64 << 20);
  }

  /**
   * A message and who waits for it.
   *
   * @param isAwaited whether a thread waits, and no continuation of a user hangs on the result
   */
  record Entry(ReadyMessage message, boolean isAwaited, CompletableFuture<Produced> result) {}

  private final Limits limits;
  private final Queue<Entry> queue = new ArrayDeque<>();
  private int messages;
  private long bytes;

  PendingMessages(Limits limits) {
    this.limits = limits;
  }

  boolean hasRoomFor(ReadyMessage message) {
    return messages == 0
        || (messages < limits.pendingMessages() && bytes + message.size() <= limits.pendingBytes());
  }

  /** Queues a message, room or not: a caller that waits for it is its own limit. */
  CompletableFuture<Produced> add(ReadyMessage message, boolean isAwaited) {
    Entry entry = new Entry(message, isAwaited, new CompletableFuture<>());
    queue.add(entry);
    messages++;
    bytes += message.size();
    return entry.result();
  }

  boolean isQueueEmpty() {
    return queue.isEmpty();
  }

  /** What goes into the next transaction; it stays pending until {@link #release}. */
  List<Entry> takeBatch() {
    List<Entry> batch = new ArrayList<>();
    long size = 0;
    Entry next = queue.peek();
    while (next != null
        && batch.size() < limits.batchMessages()
        && (batch.isEmpty() || size + next.message().size() <= limits.batchBytes())) {
      size += next.message().size();
      batch.add(queue.remove());
      next = queue.peek();
    }
    return batch;
  }

  /** Everything that is queued; it stays pending until {@link #release}. */
  List<Entry> takeAll() {
    List<Entry> all = List.copyOf(queue);
    queue.clear();
    return all;
  }

  /** These are neither queued nor in flight any more. */
  void release(Collection<Entry> entries) {
    messages -= entries.size();
    for (Entry entry : entries) {
      bytes -= entry.message().size();
    }
  }

  /** How many are queued or in flight. */
  int count() {
    return messages;
  }
}
