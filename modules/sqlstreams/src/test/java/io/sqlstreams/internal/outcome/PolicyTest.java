package io.sqlstreams.internal.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.DeliveryLimits;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.internal.document.MessageOptions;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The group's limits come before the message's wish, and that before the group's setting. */
class PolicyTest {
  private static final GroupConfig GROUP =
      GroupConfig.defaults()
          .withTimeout(Duration.ofSeconds(20))
          .withRetry(RetryPolicy.defaults().withMaxRetries(4).withCap(Duration.ofMinutes(1)))
          .withLimits(
              DeliveryLimits.defaults()
                  .withTimeout(Duration.ofSeconds(10), Duration.ofSeconds(40))
                  .withRetries(2, 8)
                  .withBackoff(Duration.ofSeconds(2), Duration.ofMinutes(2))
                  .withMaxDelays(5));

  private final Policies policies = new Policies(GROUP);

  @Test
  void withoutAWishTheGroupsSettingsHold() {
    Policy policy = policies.of(null);
    assertThat(policy).isSameAs(policies.ofGroup());
    assertThat(policy.timeout()).isEqualTo(Duration.ofSeconds(20));
    assertThat(policy.retry().maxRetries()).isEqualTo(4);
    assertThat(policy.retry().maxDelays()).as("the group's own are unlimited").isEqualTo(5);
    assertThat(policy.retry().cap()).isEqualTo(Duration.ofMinutes(1));
    assertThat(policy.minBackoff()).isEqualTo(Duration.ofSeconds(2));
  }

  @Test
  void aWishWithinTheLimitsIsGranted() {
    Policy policy =
        wish(
            ProduceOptions.defaults()
                .withTimeout(Duration.ofSeconds(33))
                .withRetry(RetryPolicy.defaults().withMaxRetries(7).withMaxDelays(1)));
    assertThat(policy.timeout()).isEqualTo(Duration.ofSeconds(33));
    assertThat(policy.retry().maxRetries()).isEqualTo(7);
    assertThat(policy.retry().maxDelays()).isEqualTo(1);
  }

  @Test
  void aWishOutsideTheLimitsGetsTheNearestValue() {
    Policy low =
        wish(
            ProduceOptions.defaults()
                .withTimeout(Duration.ofMillis(1))
                .withRetry(
                    RetryPolicy.defaults()
                        .withMaxRetries(0)
                        .withInitialBackoff(Duration.ZERO)
                        .withCap(Duration.ofSeconds(1))));
    assertThat(low.timeout()).isEqualTo(Duration.ofSeconds(10));
    assertThat(low.retry().maxRetries()).isEqualTo(2);
    assertThat(Backoff.after(low, 1, 0)).isEqualTo(Duration.ofSeconds(2));
    assertThat(Backoff.after(low, 9, 1)).as("its cap is below the least").hasSeconds(2);
    Policy high =
        wish(
            ProduceOptions.defaults()
                .withTimeout(Duration.ofDays(1))
                .withRetry(
                    RetryPolicy.defaults()
                        .withMaxRetries(RetryPolicy.UNLIMITED)
                        .withCap(Duration.ofDays(1))));
    assertThat(high.timeout()).isEqualTo(Duration.ofSeconds(40));
    assertThat(high.retry().maxRetries()).isEqualTo(8);
    assertThat(Backoff.after(high, 30, 1)).isEqualTo(Duration.ofMinutes(2));
    assertThat(high.retry().maxDelays()).isEqualTo(5);
  }

  @Test
  void oneWishLeavesTheOthersToTheGroup() {
    Policy policy = wish(ProduceOptions.defaults().withTimeout(Duration.ofSeconds(11)));
    assertThat(policy.timeout()).isEqualTo(Duration.ofSeconds(11));
    assertThat(policy.retry()).isEqualTo(policies.ofGroup().retry());
  }

  @Test
  void aWishIsStoredOnlyWhenThereIsOneAndComesBackAsItWas() {
    assertThat(MessageOptions.write(ProduceOptions.key("k"))).isNull();
    ProduceOptions options =
        ProduceOptions.defaults()
            .withTimeout(Duration.ofNanos(1_000_001))
            .withRetry(RetryPolicy.defaults().withJitter(0).withBackoff(Duration.ZERO, 1.5));
    assertThat(MessageOptions.read(MessageOptions.write(options)))
        .isEqualTo(new MessageOptions(options.timeout(), options.retry(), null));
    ProduceOptions defaults = ProduceOptions.defaults().withRetry(RetryPolicy.defaults());
    assertThat(MessageOptions.write(defaults))
        .as("a wish for the library's defaults is one")
        .isEqualTo("{\"retry\":{}}");
  }

  @Test
  void whatCanNotBeReadAsksForNothing() {
    assertThat(policies.of("{\"timeout_ns\":-1,\"retry\":{\"max_retries\":-4}}"))
        .isSameAs(policies.ofGroup());
    assertThat(policies.of("{\"colour\":\"red\"}")).isEqualTo(policies.ofGroup());
  }

  @Test
  void newSettingsHoldFromThenOn() {
    Policy before = policies.of(null);
    policies.set(GROUP.withTimeout(Duration.ofSeconds(12)));
    assertThat(before.timeout()).isEqualTo(Duration.ofSeconds(20));
    assertThat(policies.of(null).timeout()).isEqualTo(Duration.ofSeconds(12));
  }

  private Policy wish(ProduceOptions options) {
    return policies.of(MessageOptions.write(options));
  }
}
