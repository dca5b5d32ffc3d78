package io.sqlstreams.bench.load;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class CrewTest {
  @Test
  @Timeout(30)
  void theFirstFailureEndsTheOthersAndIsThrown() {
    CountDownLatch never = new CountDownLatch(1);
    Callable<Void> waits =
        () -> {
          never.await();
          return null;
        };
    Callable<Void> fails =
        () -> {
          throw new IOException("broken");
        };
    assertThatThrownBy(() -> Crew.run(List.of(waits, fails, waits)))
        .isInstanceOf(IOException.class)
        .hasMessage("broken");
  }
}
