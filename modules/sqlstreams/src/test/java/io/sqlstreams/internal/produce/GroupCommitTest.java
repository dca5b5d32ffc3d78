package io.sqlstreams.internal.produce;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.Produced;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.OutcomeUnknownException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class GroupCommitTest {
  private static final PendingMessages.Limits SMALL =
      new PendingMessages.Limits(4, 10_000, 6, 100_000);

  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final FakeLog log = new FakeLog();
  private final GroupCommit group = new GroupCommit("it", log, executor, SMALL);

  @AfterEach
  void stop() {
    log.gate.release(1_000_000);
    executor.shutdownNow();
  }

  /** Writes nothing down until the gate lets it, and refuses payloads that say so. */
  private static final class FakeLog implements GroupCommit.Flush {
    final Semaphore gate = new Semaphore(1_000_000);
    final LinkedBlockingQueue<List<String>> arrived = new LinkedBlockingQueue<>();
    final List<List<String>> committed = new CopyOnWriteArrayList<>();
    final AtomicInteger inFlight = new AtomicInteger();
    final AtomicInteger mostInFlight = new AtomicInteger();
    private final AtomicLong lastId = new AtomicLong();
    volatile RuntimeException outage;

    @Override
    public List<Produced> write(List<ReadyMessage> messages) {
      List<String> keys = messages.stream().map(ReadyMessage::messageKey).toList();
      mostInFlight.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
      try {
        arrived.add(keys);
        gate.acquireUninterruptibly();
        if (outage != null) {
          throw outage;
        }
        if (keys.stream().anyMatch(key -> key.startsWith("bad"))) {
          throw new InvalidInputException("payload", "refused");
        }
        if (keys.stream().anyMatch(key -> key.startsWith("check"))) {
          throw new DatabaseException(ErrorCode.DATABASE_ERROR, "refused", "23514", null);
        }
        committed.add(keys);
        return messages.stream().map(message -> new Produced(lastId.incrementAndGet())).toList();
      } finally {
        inFlight.decrementAndGet();
      }
    }

    @Override
    public List<Produced> writeAgain(List<ReadyMessage> messages, OutcomeUnknownException lost) {
      assertThat(lost).isSameAs(outage);
      outage = null;
      return write(messages);
    }

    void close() {
      gate.drainPermits();
    }

    List<String> awaitArrival() throws InterruptedException {
      List<String> keys = arrived.poll(10, SECONDS);
      assertThat(keys).isNotNull();
      return keys;
    }
  }

  private static ReadyMessage message(String key) {
    return new ReadyMessage(1, null, key, new byte[0], null, null, null, null);
  }

  private static ReadyMessage keyed(String key) {
    return new ReadyMessage(1, null, key, new byte[0], null, null, UUID.randomUUID(), null);
  }

  @Test
  void aLoneCallerWritesOnItsOwnThreadAtOnce() {
    executor.shutdown(); // nothing else could do it
    assertThat(group.produce(message("a"))).isEqualTo(new Produced(1));
    assertThat(group.produce(message("b"))).isEqualTo(new Produced(2));
    assertThat(log.committed).containsExactly(List.of("a"), List.of("b"));
  }

  @Test
  void whileOneBatchIsInFlightTheNextFills() throws Exception {
    log.close();
    CompletableFuture<Produced> first =
        CompletableFuture.supplyAsync(() -> group.produce(message("a")), executor);
    assertThat(log.awaitArrival()).containsExactly("a");
    List<CompletableFuture<Produced>> next = new ArrayList<>();
    for (String key : List.of("b", "c", "d", "e", "f")) {
      next.add(group.produceAsync(message(key)));
    }
    assertThat(log.arrived).isEmpty();
    assertThat(next).noneMatch(CompletableFuture::isDone);
    log.gate.release();
    assertThat(first.get(10, SECONDS).id()).isEqualTo(1);
    assertThat(log.awaitArrival())
        .as("up to the limit, in order")
        .containsExactly("b", "c", "d", "e");
    log.gate.release(2);
    assertThat(log.awaitArrival()).containsExactly("f");
    for (int i = 0; i < next.size(); i++) {
      assertThat(next.get(i).get(10, SECONDS).id()).isEqualTo(i + 2);
    }
    assertThat(log.mostInFlight).hasValue(1);
  }

  @Test
  void aBatchEndsBeforeItsBytesDo() throws Exception {
    log.close();
    List<CompletableFuture<Produced>> all = new ArrayList<>();
    all.add(group.produceAsync(message("a")));
    assertThat(log.awaitArrival()).containsExactly("a");
    all.add(
        group.produceAsync(
            new ReadyMessage(1, null, "huge", new byte[50_000], null, null, null, null)));
    all.add(
        group.produceAsync(
            new ReadyMessage(1, null, "half", new byte[5_000], null, null, null, null)));
    all.add(
        group.produceAsync(
            new ReadyMessage(1, null, "rest", new byte[4_800], null, null, null, null)));
    all.add(group.produceAsync(message("b")));
    log.gate.release(10);
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(10, SECONDS);
    assertThat(log.committed)
        .containsExactly(List.of("a"), List.of("huge"), List.of("half", "rest"), List.of("b"));
  }

  @Test
  void theGuiltyFailAndTheirNeighboursDoNot() throws Exception {
    log.close();
    List<CompletableFuture<Produced>> all = new ArrayList<>();
    all.add(group.produceAsync(message("a")));
    log.awaitArrival();
    for (String key : List.of("b", "bad-c", "check-d", "e")) {
      all.add(group.produceAsync(message(key)));
    }
    log.gate.release(100);
    assertThat(all.get(1).get(10, SECONDS)).isNotNull();
    assertThatThrownBy(() -> all.get(2).get(10, SECONDS))
        .hasCauseInstanceOf(InvalidInputException.class);
    assertThatThrownBy(() -> all.get(3).get(10, SECONDS))
        .hasCauseInstanceOf(DatabaseException.class);
    assertThat(all.get(4).get(10, SECONDS)).isNotNull();
    assertThat(log.committed).containsExactly(List.of("a"), List.of("b"), List.of("e"));
    assertThat(group.pendingMessages()).isZero();
  }

  @Test
  void whatIsNobodysFaultFailsTheWholeBatchAndIsNotTriedAgain() throws Exception {
    log.close();
    CompletableFuture<Produced> first = group.produceAsync(message("a"));
    log.awaitArrival();
    CompletableFuture<Produced> second = group.produceAsync(message("b"));
    CompletableFuture<Produced> third =
        CompletableFuture.supplyAsync(() -> group.produce(message("c")), executor);
    while (group.pendingMessages() < 3) {
      Thread.onSpinWait();
    }
    log.gate.release();
    assertThat(first.get(10, SECONDS)).isNotNull();
    assertThat(log.awaitArrival()).containsExactly("b", "c");
    log.outage = new OutcomeUnknownException("it", null);
    log.gate.release(10);
    assertThatThrownBy(() -> second.get(10, SECONDS)).cause().isSameAs(log.outage);
    assertThatThrownBy(() -> third.get(10, SECONDS)).cause().isSameAs(log.outage);
    assertThat(log.arrived).isEmpty();
    log.outage = null;
    assertThat(group.produce(message("d"))).isNotNull();
  }

  @Test
  void b56_amongMessagesOfUnknownOutcomeThoseWithKeysAreWrittenAgain() throws Exception {
    log.close();
    CompletableFuture<Produced> first = group.produceAsync(message("a"));
    log.awaitArrival();
    CompletableFuture<Produced> without = group.produceAsync(message("b"));
    CompletableFuture<Produced> with = group.produceAsync(keyed("c"));
    log.gate.release();
    assertThat(first.get(10, SECONDS)).isNotNull();
    assertThat(log.awaitArrival()).containsExactly("b", "c");
    RuntimeException lost = new OutcomeUnknownException("it", null);
    log.outage = lost;
    log.gate.release(10);
    assertThatThrownBy(() -> without.get(10, SECONDS)).cause().isSameAs(lost);
    assertThat(with.get(10, SECONDS)).isNotNull();
    assertThat(log.committed).containsExactly(List.of("a"), List.of("c"));
  }

  @Test
  void aLoneCallersFailureIsItsOwnAndOthersGoOn() throws Exception {
    log.close();
    CompletableFuture<Produced> bad =
        CompletableFuture.supplyAsync(() -> group.produce(message("bad")), executor);
    log.awaitArrival();
    CompletableFuture<Produced> good = group.produceAsync(message("good"));
    log.gate.release(10);
    assertThatThrownBy(() -> bad.get(10, SECONDS)).hasCauseInstanceOf(InvalidInputException.class);
    assertThat(good.get(10, SECONDS)).isNotNull();
  }

  @Test
  void anAsynchronousCallerWaitsForRoom() throws Exception {
    log.close();
    List<CompletableFuture<Produced>> all = new ArrayList<>();
    for (int i = 0; i < SMALL.pendingMessages(); i++) {
      all.add(group.produceAsync(message("m" + i)));
    }
    CompletableFuture<CompletableFuture<Produced>> late =
        CompletableFuture.supplyAsync(() -> group.produceAsync(message("late")), executor);
    assertThatThrownBy(() -> late.get(200, MILLISECONDS)).isInstanceOf(TimeoutException.class);
    log.gate.release();
    assertThat(late.get(10, SECONDS)).as("the call returns before the commit").isNotDone();
    log.gate.release(100);
    assertThat(late.get(10, SECONDS).get(10, SECONDS)).isNotNull();
    for (CompletableFuture<Produced> each : all) {
      assertThat(each.get(10, SECONDS)).isNotNull();
    }
    assertThat(group.pendingMessages()).isZero();
  }

  @Test
  void bytesAreRoomAsWellAndOneMessageAlwaysFits() throws Exception {
    log.close();
    CompletableFuture<Produced> huge =
        group.produceAsync(
            new ReadyMessage(1, null, "huge", new byte[200_000], null, null, null, null));
    CompletableFuture<CompletableFuture<Produced>> late =
        CompletableFuture.supplyAsync(() -> group.produceAsync(message("late")), executor);
    assertThatThrownBy(() -> late.get(200, MILLISECONDS)).isInstanceOf(TimeoutException.class);
    log.gate.release(10);
    assertThat(huge.get(10, SECONDS)).isNotNull();
    assertThat(late.get(10, SECONDS).get(10, SECONDS)).isNotNull();
  }

  @Test
  void aContinuationMayProduce() throws Exception {
    CompletableFuture<Produced> chain =
        group.produceAsync(message("a")).thenApply(first -> group.produce(message("b")));
    assertThat(chain.get(10, SECONDS).id()).isEqualTo(2);
  }

  @Test
  void anInterruptNeitherEndsTheWaitNorGetsLost() throws Exception {
    log.close();
    CompletableFuture<Produced> first = group.produceAsync(message("a"));
    log.awaitArrival();
    CompletableFuture<Boolean> wasInterrupted = new CompletableFuture<>();
    Thread waiting =
        new Thread(
            () -> {
              group.produce(message("b"));
              wasInterrupted.complete(Thread.currentThread().isInterrupted());
            });
    waiting.start();
    while (group.pendingMessages() < 2) {
      Thread.onSpinWait();
    }
    waiting.interrupt();
    log.gate.release(10);
    assertThat(first.get(10, SECONDS)).isNotNull();
    assertThat(wasInterrupted.get(10, SECONDS)).isTrue();
  }

  @Test
  void closingRefusesNewMessagesAndWaitsForTheOthers() throws Exception {
    log.close();
    CompletableFuture<Produced> first = group.produceAsync(message("a"));
    log.awaitArrival();
    CompletableFuture<Produced> second = group.produceAsync(message("b"));
    CompletableFuture<Void> closing =
        CompletableFuture.runAsync(() -> group.close(Duration.ofSeconds(30)), executor);
    while (true) {
      try {
        group.requireOpen();
        Thread.onSpinWait();
      } catch (ClosedException e) {
        break;
      }
    }
    assertThatThrownBy(() -> group.produce(message("c"))).isInstanceOf(ClosedException.class);
    assertThatThrownBy(() -> group.produceAsync(message("c"))).isInstanceOf(ClosedException.class);
    assertThat(closing).isNotDone();
    log.gate.release(10);
    closing.get(10, SECONDS);
    assertThat(first.get(10, SECONDS)).isNotNull();
    assertThat(second.get(10, SECONDS)).isNotNull();
    group.close(Duration.ofSeconds(30));
  }

  @Test
  void whatIsStillQueuedAfterTheWaitFailsAndWhoWaitsForRoomIsLetGo() throws Exception {
    log.close();
    List<CompletableFuture<Produced>> all = new ArrayList<>();
    for (int i = 0; i < SMALL.pendingMessages(); i++) {
      all.add(group.produceAsync(message("m" + i)));
    }
    List<String> inFlight = log.awaitArrival();
    CompletableFuture<CompletableFuture<Produced>> late =
        CompletableFuture.supplyAsync(() -> group.produceAsync(message("late")), executor);
    group.close(Duration.ofMillis(50));
    assertThatThrownBy(() -> late.get(10, SECONDS)).hasCauseInstanceOf(ClosedException.class);
    assertThatThrownBy(() -> all.get(5).get(10, SECONDS)).hasCauseInstanceOf(ClosedException.class);
    log.gate.release(10);
    for (int i = 0; i < inFlight.size(); i++) {
      assertThat(all.get(i).get(10, SECONDS)).isNotNull();
    }
    assertThat(log.committed).containsExactly(inFlight);
  }

  @Test
  void anExecutorThatRefusesFailsWhatQueuesAndLosesNothing() throws Exception {
    executor.shutdown();
    CompletableFuture<Produced> refused = group.produceAsync(message("a"));
    assertThatThrownBy(() -> refused.get(10, SECONDS)).hasCauseInstanceOf(ClosedException.class);
    assertThat(group.pendingMessages()).isZero();
    assertThat(group.produce(message("b"))).isNotNull();
  }

  @Test
  void manyThreadsGetEachItsOwnIdInFewBatches() throws Exception {
    GroupCommit large =
        new GroupCommit("it", slowly(log), executor, PendingMessages.Limits.DEFAULTS);
    int threads = 32;
    int each = 200;
    ConcurrentHashMap<Long, String> byId = new ConcurrentHashMap<>();
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int t = 0; t < threads; t++) {
      String name = "t" + t;
      all.add(
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < each; i++) {
                  String key = name + "-" + i;
                  Produced produced =
                      i % 3 == 0
                          ? large.produceAsync(message(key)).join()
                          : large.produce(message(key));
                  assertThat(byId.put(produced.id(), key)).isNull();
                }
              },
              executor));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(50, SECONDS);
    assertThat(byId).hasSize(threads * each);
    List<String> written = log.committed.stream().flatMap(List::stream).toList();
    for (int i = 0; i < written.size(); i++) {
      assertThat(byId.get(i + 1L)).isEqualTo(written.get(i));
    }
    assertThat(log.committed).hasSizeLessThan(threads * each / 4);
    assertThat(log.mostInFlight).hasValue(1);
  }

  private static GroupCommit.Flush slowly(GroupCommit.Flush flush) {
    return messages -> {
      LockSupport.parkNanos(200_000);
      return flush.write(messages);
    };
  }
}
