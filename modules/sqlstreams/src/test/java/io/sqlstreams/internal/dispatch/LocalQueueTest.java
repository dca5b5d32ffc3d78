package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.internal.claim.ClaimedMessage;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.wake.Signal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LocalQueueTest {
  private static final long LONG = 600_000_000_000L;

  private final Signal room = new Signal();
  private final LocalQueue queue = new LocalQueue(room, Long.MAX_VALUE);

  @Test
  void countsMessagesAndBytesAndGivesThemInOrder() {
    queue.add(List.of(work(1, 2, 3)));
    assertThat(queue.messages()).isEqualTo(3);
    assertThat(queue.bytes()).isEqualTo(30);
    assertThat(take(1)).extracting(Delivery::id).containsExactly(1L);
    assertThat(queue.messages()).isEqualTo(2);
    assertThat(queue.bytes()).isEqualTo(20);
  }

  @Test
  void givesSeveralOfTheSameWorkAtOnceAndTakesThemBackInFront() {
    queue.add(List.of(work(1, 2, 3)));
    queue.add(List.of(work(4, 5)));
    List<Delivery> taken = take(2);
    assertThat(taken).extracting(Delivery::id).containsExactly(1L, 2L);
    assertThat(take(9)).extracting(Delivery::id).containsExactly(3L);
    queue.putBack(taken);
    assertThat(queue.bytes()).isEqualTo(40);
    assertThat(take(9)).extracting(Delivery::id).containsExactly(1L, 2L);
    assertThat(take(9)).extracting(Delivery::id).containsExactly(4L, 5L);
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void aClosedQueueGivesNothingAndTakesNothing() {
    queue.add(List.of(work(1, 2)));
    queue.close();
    assertThat(take(1)).isNull();
    queue.add(List.of(work(3)));
    assertThat(take(1)).isNull();
    assertThat(queue.messages()).isZero();
  }

  /** Who closes it and then looks must know of everything that is about to begin. */
  @Test
  void whatIsTakenIsToldBeforeTheQueueCanBeClosed() throws Exception {
    for (int round = 0; round < 500; round++) {
      LocalQueue closing = new LocalQueue(room, Long.MAX_VALUE);
      closing.add(List.of(work(1)));
      AtomicBoolean told = new AtomicBoolean();
      AtomicBoolean taken = new AtomicBoolean();
      Thread taker = new Thread(() -> taken.set(closing.take(1, () -> told.set(true)) != null));
      taker.start();
      closing.close();
      boolean known = told.get();
      taker.join();
      assertThat(known).isEqualTo(taken.get());
    }
  }

  /** Those that can't wake up, since nothing gives them a carrier, must not come first. */
  @Test
  void whoFellAsleepLastIsWokenFirst() throws Exception {
    Thread first = asleep();
    Thread last = asleep();
    queue.add(List.of(work(1)));
    last.join();
    assertThat(first.getState()).isEqualTo(Thread.State.WAITING);
    queue.close();
    first.join();
  }

  private Thread asleep() {
    Thread taker = new Thread(() -> take(1));
    taker.start();
    while (taker.getState() != Thread.State.WAITING) {
      Thread.onSpinWait();
    }
    return taker;
  }

  @Test
  void saysWhenFewAreLeft() throws Exception {
    queue.wakeAt(1);
    queue.add(List.of(work(1, 2, 3)));
    take(1);
    take(1);
    room.await(LONG);
  }

  /** A wake-up that is lost would leave a taker, and so this test, waiting for ever. */
  @Test
  void everyMessageIsTakenOnceByManyTakers() throws Exception {
    int messages = 50_000;
    Set<Long> taken = new ConcurrentSkipListSet<>();
    AtomicLong takes = new AtomicLong();
    List<Thread> takers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Thread taker =
          new Thread(
              () -> {
                for (List<Delivery> next = take(1); next != null; next = take(1)) {
                  taken.add(next.get(0).id());
                  takes.incrementAndGet();
                }
              });
      taker.start();
      takers.add(taker);
    }
    for (long id = 1; id <= messages; id += 5) {
      queue.add(List.of(work(LongStream.range(id, id + 5).toArray())));
    }
    while (takes.get() < messages) {
      room.await(LONG);
    }
    queue.close();
    for (Thread taker : takers) {
      taker.join();
    }
    assertThat(taken).hasSize(messages);
    assertThat(takes).hasValue(messages);
    assertThat(queue.idle()).isZero();
  }

  private @Nullable List<Delivery> take(int most) {
    return queue.take(most, () -> {});
  }

  private static Work work(long... ids) {
    List<ClaimedMessage> messages =
        LongStream.of(ids)
            .mapToObj(
                id ->
                    new StoredMessage(
                        id, Instant.EPOCH, 1, null, null, new byte[10], null, null, null))
            .map(message -> new ClaimedMessage(message, Concurrency.PARALLEL))
            .toList();
    return Work.of(
        new ClaimedRange(UUID.randomUUID(), ids[0] - 1, ids[ids.length - 1], messages),
        Work.Order.NONE,
        System.nanoTime() + LONG);
  }
}
