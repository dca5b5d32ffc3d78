package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.wake.Signal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class LocalQueueTest {
  private static final long LONG = 600_000_000_000L;

  private final Signal room = new Signal();
  private final LocalQueue queue = new LocalQueue(room);

  @Test
  void countsMessagesAndBytesAndGivesThemInOrder() {
    queue.add(work(1, 2, 3));
    assertThat(queue.messages()).isEqualTo(3);
    assertThat(queue.bytes()).isEqualTo(30);
    assertThat(queue.take(1)).extracting(Delivery::id).containsExactly(1L);
    assertThat(queue.messages()).isEqualTo(2);
    assertThat(queue.bytes()).isEqualTo(20);
  }

  @Test
  void givesSeveralOfTheSameWorkAtOnceAndTakesThemBackInFront() {
    queue.add(work(1, 2, 3));
    queue.add(work(4, 5));
    List<Delivery> taken = queue.take(2);
    assertThat(taken).extracting(Delivery::id).containsExactly(1L, 2L);
    assertThat(queue.take(9)).extracting(Delivery::id).containsExactly(3L);
    queue.putBack(taken);
    assertThat(queue.bytes()).isEqualTo(40);
    assertThat(queue.take(9)).extracting(Delivery::id).containsExactly(1L, 2L);
    assertThat(queue.take(9)).extracting(Delivery::id).containsExactly(4L, 5L);
    assertThat(queue.bytes()).isZero();
  }

  @Test
  void aClosedQueueGivesNothingAndTakesNothing() {
    queue.add(work(1, 2));
    queue.close();
    assertThat(queue.take(1)).isNull();
    queue.add(work(3));
    assertThat(queue.take(1)).isNull();
    assertThat(queue.messages()).isZero();
  }

  @Test
  void saysWhenFewAreLeft() throws Exception {
    queue.wakeAt(1);
    queue.add(work(1, 2, 3));
    queue.take(1);
    queue.take(1);
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
                for (List<Delivery> next = queue.take(1); next != null; next = queue.take(1)) {
                  taken.add(next.get(0).id());
                  takes.incrementAndGet();
                }
              });
      taker.start();
      takers.add(taker);
    }
    for (long id = 1; id <= messages; id += 5) {
      queue.add(work(LongStream.range(id, id + 5).toArray()));
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

  private static Work work(long... ids) {
    List<StoredMessage> messages =
        LongStream.of(ids)
            .mapToObj(
                id ->
                    new StoredMessage(
                        id, Instant.EPOCH, 1, null, null, new byte[10], null, null, null))
            .toList();
    return Work.of(
        new ClaimedRange(UUID.randomUUID(), ids[0] - 1, ids[ids.length - 1], messages),
        System.nanoTime() + LONG);
  }
}
