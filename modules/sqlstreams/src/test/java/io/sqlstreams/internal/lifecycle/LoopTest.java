package io.sqlstreams.internal.lifecycle;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class LoopTest {
  @Test
  void stopWorksBeforeStartAndTwice() {
    Loop loop = new Loop("never", () -> {});
    loop.stop();
    loop.stop();
    loop.start();
    assertThat(loop.isStopping()).isTrue();
  }

  @Test
  void aTurnThatFailsIsTriedAgain() throws Exception {
    CountDownLatch third = new CountDownLatch(3);
    Loop loop =
        new Loop(
            "failing",
            () -> {
              third.countDown();
              throw new IllegalStateException("no");
            });
    loop.start();
    third.await();
    loop.stop();
  }

  @Test
  void noTurnRunsAfterStopHasReturned() {
    AtomicInteger turns = new AtomicInteger();
    Loop loop = new Loop("turning", turns::incrementAndGet);
    loop.start();
    while (turns.get() < 100) {
      Thread.onSpinWait();
    }
    loop.stop();
    int after = turns.get();
    Thread.yield();
    assertThat(turns.get()).isEqualTo(after);
  }

  @Test
  void aTurnMayStopItsOwnLoop() throws Exception {
    AtomicReference<Loop> self = new AtomicReference<>();
    CountDownLatch ended = new CountDownLatch(1);
    self.set(
        new Loop(
            "self",
            () -> {
              self.get().stop();
              ended.countDown();
            }));
    self.get().start();
    ended.await();
    self.get().stop();
  }
}
