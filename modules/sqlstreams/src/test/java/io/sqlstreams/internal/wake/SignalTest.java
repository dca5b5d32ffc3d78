package io.sqlstreams.internal.wake;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class SignalTest {
  private static final long LONG = TimeUnit.MINUTES.toNanos(10);

  @Test
  void aSetBeforeTheWaitIsNotLostAndCountsOnce() throws Exception {
    Signal signal = new Signal();
    signal.set();
    signal.set();
    signal.await(LONG);
    long begun = System.nanoTime();
    signal.await(TimeUnit.MILLISECONDS.toNanos(5));
    assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(5));
  }

  /** A lost wake-up would leave the reader waiting for ten minutes. */
  @Test
  void noNewsIsLostBetweenTwoThreads() throws Exception {
    Signal signal = new Signal();
    AtomicInteger news = new AtomicInteger();
    int all = 200_000;
    Thread writer =
        new Thread(
            () -> {
              for (int i = 0; i < all; i++) {
                news.incrementAndGet();
                signal.set();
              }
            });
    writer.start();
    while (news.get() < all) {
      signal.await(LONG);
    }
    writer.join();
  }

  @Test
  void streamsDoNotWakeEachOther() throws Exception {
    Wakeups wakeups = new Wakeups();
    Signal one = new Signal();
    Signal two = new Signal();
    wakeups.register(1, one);
    wakeups.register(2, two);
    wakeups.wake(2);
    two.await(LONG);
    long begun = System.nanoTime();
    one.await(TimeUnit.MILLISECONDS.toNanos(5));
    assertThat(System.nanoTime() - begun).isGreaterThanOrEqualTo(TimeUnit.MILLISECONDS.toNanos(5));
    wakeups.deregister(1, one);
    wakeups.wakeAll();
    two.await(LONG);
  }
}
