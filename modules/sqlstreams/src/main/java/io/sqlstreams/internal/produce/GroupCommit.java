package io.sqlstreams.internal.produce;

import io.sqlstreams.Produced;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.internal.produce.PendingMessages.Entry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Commits the single messages of concurrent callers together. At most one batch is in flight.
 * Thread-safe.
 *
 * <p>Who writes: a caller that waits and finds nothing in flight writes its own message alone, at
 * once, on its own thread. All others queue, and one task on the executor writes what has queued,
 * batch after batch, until the queue is empty. So a lone caller neither waits for company nor for
 * another thread, and no caller ever writes for others: an interrupted one can't spoil their batch.
 *
 * <p>The one invariant, under the lock: {@code !busy} means that the queue is empty. Whoever sets
 * {@code busy} must end in {@link #handOver} or {@link #nextBatch}, which either find the queue
 * empty and clear it in the same step, or see to it that the queue is written. So a message that
 * queues always has someone to write it:
 *
 * <pre>
 * writer: write ...          handOver: queue empty, busy = false
 * other:           busy, so queue                                  -- before: handOver sees it and starts the task
 * other:                                                !busy, so write -- after: nobody is needed
 * </pre>
 */
final class GroupCommit {
  /** Where the messages go. */
  interface Flush {
    /**
     * Writes messages in one transaction and gives their receipts in the same order, or throws and
     * nothing is written.
     *
     * @throws OutcomeUnknownException when nobody knows which
     */
    List<Produced> write(List<ReadyMessage> messages);

    /**
     * Writes messages that all have idempotency keys, and of which nobody knows whether they were
     * written.
     *
     * @param lost what is thrown when they can't be written now
     */
    default List<Produced> writeAgain(List<ReadyMessage> messages, OutcomeUnknownException lost) {
      throw lost;
    }
  }

  private final String subject;
  private final Flush flush;
  private final Executor executor;
  private final PendingMessages pending;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition room = lock.newCondition();
  private final Condition idle = lock.newCondition();
  private boolean busy;
  private boolean closed;

  /**
   * @param subject what is closed after {@link #close}, for messages
   * @param executor has a thread for every task at once, since a task may last as long as messages
   *     come
   */
  GroupCommit(String subject, Flush flush, Executor executor, PendingMessages.Limits limits) {
    this.subject = subject;
    this.flush = flush;
    this.executor = executor;
    this.pending = new PendingMessages(limits);
  }

  /**
   * Writes one message and waits until it is committed. An interrupt doesn't end the wait, since it
   * couldn't end the write.
   */
  Produced produce(ReadyMessage message) {
    CompletableFuture<Produced> queued;
    lock.lock();
    try {
      requireOpen();
      queued = busy ? pending.add(message, true) : null;
      busy = true;
    } finally {
      lock.unlock();
    }
    return queued == null ? writeAlone(message) : await(queued);
  }

  /** Writes one message soon. Waits while too much is on its way. */
  CompletableFuture<Produced> produceAsync(ReadyMessage message) {
    lock.lock();
    try {
      while (!closed && !pending.hasRoomFor(message)) {
        room.awaitUninterruptibly();
      }
      requireOpen();
      CompletableFuture<Produced> queued = pending.add(message, false);
      if (!busy) {
        busy = true;
        startDraining();
      }
      return queued;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Takes no more messages, and waits until those that it has taken are written. What is still
   * queued after the wait fails as closed; what is in flight then goes its way.
   */
  void close(Duration wait) {
    lock.lock();
    try {
      closed = true;
      room.signalAll();
      long left = wait.toNanos();
      while (busy && left > 0) {
        left = idle.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      List<Entry> abandoned = pending.takeAll();
      lock.unlock();
      fail(abandoned, new ClosedException(subject));
    }
  }

  void requireOpen() {
    lock.lock();
    try {
      if (closed) {
        throw new ClosedException(subject);
      }
    } finally {
      lock.unlock();
    }
  }

  private Produced writeAlone(ReadyMessage message) {
    try {
      return flush.write(List.of(message)).get(0);
    } finally {
      handOver();
    }
  }

  private static Produced await(CompletableFuture<Produced> queued) {
    try {
      return queued.join();
    } catch (CompletionException e) {
      if (e.getCause() instanceof RuntimeException cause) {
        throw cause;
      }
      if (e.getCause() instanceof Error cause) {
        throw cause;
      }
      throw e;
    }
  }

  private void handOver() {
    lock.lock();
    try {
      if (pending.isQueueEmpty()) {
        rest();
      } else {
        startDraining();
      }
    } finally {
      lock.unlock();
    }
  }

  /** Under the lock. */
  private void rest() {
    busy = false;
    idle.signalAll();
  }

  /** Under the lock. */
  private void startDraining() {
    try {
      executor.execute(this::drain);
    } catch (RejectedExecutionException e) {
      giveUp(new ClosedException(subject));
    } catch (Throwable e) { // such as no memory for a thread
      giveUp(e);
    }
  }

  /** Under the lock. */
  private void giveUp(Throwable reason) {
    fail(pending.takeAll(), reason);
    rest();
  }

  private void drain() {
    List<Entry> batch = nextBatch();
    while (!batch.isEmpty()) {
      settle(batch);
      batch = nextBatch();
    }
  }

  /**
   * What goes into the next transaction; empty when there is nothing, and then this task has ended.
   */
  private List<Entry> nextBatch() {
    lock.lock();
    try {
      List<Entry> batch = pending.takeBatch();
      if (batch.isEmpty()) {
        rest();
      }
      return batch;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes a batch. When a message of it may be at fault, the halves are written one after the
   * other, each in a transaction of its own, down to the messages that are refused alone.
   */
  private void settle(List<Entry> batch) {
    List<Produced> receipts;
    try {
      receipts = flush.write(messages(batch));
    } catch (OutcomeUnknownException e) {
      settleLost(batch, e);
      return;
    } catch (Throwable e) { // whatever it is, somebody waits for it
      if (batch.size() > 1 && isFaultOfSome(e)) {
        int middle = batch.size() / 2;
        settle(batch.subList(0, middle));
        settle(batch.subList(middle, batch.size()));
      } else {
        fail(batch, e);
      }
      return;
    }
    complete(batch, receipts);
  }

  /**
   * A message without an idempotency key has spoilt the batch for those that have one: they can be
   * written again.
   */
  private void settleLost(List<Entry> batch, OutcomeUnknownException e) {
    Map<Boolean, List<Entry>> byKey =
        batch.stream()
            .collect(Collectors.partitioningBy(entry -> entry.message().idempotencyKey() != null));
    List<Entry> keyed = Objects.requireNonNull(byKey.get(true));
    if (keyed.isEmpty() || keyed.size() == batch.size()) {
      fail(batch, e);
      return;
    }
    fail(Objects.requireNonNull(byKey.get(false)), e);
    List<Produced> receipts;
    try {
      receipts = flush.writeAgain(messages(keyed), e);
    } catch (Throwable again) { // whatever it is, somebody waits for it
      fail(keyed, again);
      return;
    }
    complete(keyed, receipts);
  }

  private static List<ReadyMessage> messages(List<Entry> batch) {
    return batch.stream().map(Entry::message).toList();
  }

  private static boolean isFaultOfSome(Throwable e) {
    if (e instanceof DatabaseException refusal) {
      @Nullable String state = refusal.sqlState();
      // class 23: a rule of a table, class P0: a trigger's
      return state != null && (state.startsWith("23") || state.startsWith("P0"));
    }
    return e instanceof InvalidInputException;
  }

  private void complete(List<Entry> batch, List<Produced> receipts) {
    release(batch);
    List<Runnable> continuations = new ArrayList<>();
    for (int i = 0; i < batch.size(); i++) {
      Entry entry = batch.get(i);
      Produced produced = receipts.get(i);
      if (entry.isAwaited()) {
        entry.result().complete(produced);
      } else {
        continuations.add(() -> entry.result().complete(produced));
      }
    }
    runApart(continuations);
  }

  private void fail(Collection<Entry> batch, Throwable reason) {
    release(batch);
    List<Runnable> continuations = new ArrayList<>();
    for (Entry entry : batch) {
      if (entry.isAwaited()) {
        entry.result().completeExceptionally(reason);
      } else {
        continuations.add(() -> entry.result().completeExceptionally(reason));
      }
    }
    runApart(continuations);
  }

  /**
   * The continuations that users hang on futures run on a task of their own: one that produces
   * would else wait for the batch that waits for it.
   */
  private void runApart(List<Runnable> continuations) {
    if (continuations.isEmpty()) {
      return;
    }
    Runnable all = () -> continuations.forEach(Runnable::run);
    try {
      executor.execute(all);
    } catch (RejectedExecutionException e) {
      all.run();
    }
  }

  private void release(Collection<Entry> batch) {
    lock.lock();
    try {
      pending.release(batch);
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** How many messages are queued or in flight, but for one that its caller writes alone. */
  int pendingMessages() {
    lock.lock();
    try {
      return pending.count();
    } finally {
      lock.unlock();
    }
  }
}
