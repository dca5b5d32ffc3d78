package io.sqlstreams.internal.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class BackoffTest {
  private static final RetryPolicy DEFAULTS = RetryPolicy.defaults();
  private static final double NO_JITTER = 0.5;

  @Test
  void followsTheFormula() {
    assertThat(after(DEFAULTS, 1, NO_JITTER)).isEqualTo(Duration.ofSeconds(5));
    assertThat(after(DEFAULTS, 2, NO_JITTER)).isEqualTo(Duration.ofSeconds(2));
    assertThat(after(DEFAULTS, 3, NO_JITTER)).isEqualTo(Duration.ofSeconds(4));
    assertThat(after(DEFAULTS, 9, NO_JITTER)).isEqualTo(Duration.ofSeconds(256));
    assertThat(after(DEFAULTS, 10, NO_JITTER)).isEqualTo(Duration.ofMinutes(5));
  }

  @Test
  void jitterIsAFifthAndNeverLeavesTheBounds() {
    assertThat(after(DEFAULTS, 3, 0)).isEqualTo(Duration.ofMillis(3_200));
    assertThat(after(DEFAULTS, 3, 1)).isEqualTo(Duration.ofMillis(4_800));
    assertThat(after(DEFAULTS, 50, 1)).isEqualTo(Duration.ofMinutes(5));
    RetryPolicy shortest = DEFAULTS.withInitialBackoff(Duration.ZERO);
    assertThat(after(shortest, 1, 0)).isEqualTo(RetryPolicy.MIN_BACKOFF);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 30, 31, 62, 63, 64, 1_000, Integer.MAX_VALUE})
  void b66_neverNegativeNeverAboveTheCapNeverBelowTheMinimum(int failures) {
    for (Duration base :
        new Duration[] {Duration.ZERO, Duration.ofSeconds(1), Duration.ofHours(1)}) {
      for (double exponent : new double[] {1, 2, 10}) {
        for (double chance : new double[] {0, 0.5, 1}) {
          RetryPolicy policy = DEFAULTS.withBackoff(base, exponent);
          assertThat(after(policy, failures, chance))
              .as("base %s, exponent %s", base, exponent)
              .isBetween(RetryPolicy.MIN_BACKOFF, policy.cap());
        }
      }
    }
  }

  @Test
  void withoutJitterChanceChangesNothingAndWithAllOfItAWaitMayBeTwiceAsLong() {
    RetryPolicy none = DEFAULTS.withJitter(0);
    assertThat(after(none, 2, 0)).isEqualTo(after(none, 2, 1)).hasSeconds(2);
    RetryPolicy all = DEFAULTS.withJitter(1);
    assertThat(after(all, 2, 0)).isEqualTo(RetryPolicy.MIN_BACKOFF);
    assertThat(after(all, 2, 1)).hasSeconds(4);
  }

  private static Duration after(RetryPolicy retry, int failures, double chance) {
    Policies policies = new Policies(GroupConfig.defaults().withRetry(retry));
    return Backoff.after(policies.ofGroup(), failures, chance);
  }
}
