package io.sqlstreams.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Collections;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class QuotaTest {
  private static final long OF_SCENARIO = 50;

  @Test
  void theLastTakeGetsTheRest() {
    Quota quota = RoundSize.of(5).quota(OF_SCENARIO);
    assertThat(quota.take(2)).isEqualTo(2);
    assertThat(quota.take(2)).isEqualTo(2);
    assertThat(quota.take(2)).isEqualTo(1);
    assertThat(quota.take(2)).isZero();
  }

  @Test
  void withoutASizeTheScenarioSays() {
    assertThat(RoundSize.ofScenario().quota(OF_SCENARIO).take(100)).isEqualTo(50);
  }

  @Test
  void severalThreadsTakeExactlyAll() throws Exception {
    Quota quota = RoundSize.of(100_000).quota(OF_SCENARIO);
    AtomicLong taken = new AtomicLong();
    Callable<Void> taker =
        () -> {
          for (int count = quota.take(7); count > 0; count = quota.take(7)) {
            taken.addAndGet(count);
          }
          return null;
        };
    Crew.run(Collections.nCopies(4, taker));
    assertThat(taken).hasValue(100_000);
  }

  @Test
  void aTimeThatIsOverGivesNothing() {
    Quota quota = RoundSize.of(Duration.ZERO).quota(OF_SCENARIO);
    quota.start();
    assertThat(quota.take(1)).isZero();
  }

  @Test
  void aTimeThatIsNotOverGivesWithoutEnd() {
    Quota quota = RoundSize.of(Duration.ofHours(1)).quota(OF_SCENARIO);
    quota.start();
    assertThat(quota.take(1_000_000)).isEqualTo(1_000_000);
    assertThat(quota.take(1_000_000)).isEqualTo(1_000_000);
  }
}
