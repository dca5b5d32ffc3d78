package io.sqlstreams.internal.document;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.Binding;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLimits;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import java.time.Duration;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class GroupDocumentTest {
  private static final Duration LONGEST = Duration.ofNanos(Long.MAX_VALUE);

  @Test
  void onlyWhatDiffersFromTheDefaultsIsStored() {
    GroupConfig config = GroupConfig.defaults();
    assertThat(GroupDocument.write(config)).isEqualTo("{}");
    assertThat(GroupDocument.write(config.withStart(Start.head()))).isEqualTo("{}");
    assertThat(GroupDocument.write(config.withTimeout(Duration.ofSeconds(1))))
        .isEqualTo("{\"timeout_ns\":1000000000}");
    assertThat(
            GroupDocument.write(
                new GroupConfig(
                    Start.BEGINNING,
                    new RetryPolicy(
                        7, Duration.ofNanos(1), Duration.ZERO, 1.1, Duration.ofMinutes(6), 0.5, 9),
                    Duration.ofMillis(5),
                    DeliveryLimits.defaults().withRetries(1, 8).withMaxDelays(10),
                    0,
                    DeliveryLogMode.ALL,
                    Concurrency.ORDERED,
                    Concurrency.EXCLUSIVE,
                    Set.of(Binding.routingKey("a.*")))))
        .isEqualTo(
            "{\"timeout_ns\":5000000,\"max_retries\":7,\"initial_backoff_ns\":1,\"base_ns\":0,"
                + "\"exponent\":1.1,\"cap_ns\":360000000000,\"jitter\":0.5,\"max_delays\":9,\"concurrency_override\":\"exclusive\","
                + "\"least_retries\":1,\"most_retries\":8,\"most_delays\":10,\"max_range_reclaims\":0,\"delivery_log_mode\":\"all\",\"concurrency\":\"ordered\"}");
  }

  static Stream<GroupConfig> configs() {
    GroupConfig config = GroupConfig.defaults();
    return Stream.of(
        config,
        config.withStart(Start.HEAD),
        config.withTimeout(LONGEST).withMaxRangeReclaims(Integer.MAX_VALUE),
        config.withRetry(
            new RetryPolicy(
                Integer.MAX_VALUE,
                LONGEST,
                LONGEST,
                Double.MAX_VALUE,
                LONGEST,
                1,
                Integer.MAX_VALUE)),
        config.withRetry(
            new RetryPolicy(0, Duration.ZERO, Duration.ZERO, 1, RetryPolicy.MIN_BACKOFF, 0, 0)),
        config.withRetry(RetryPolicy.defaults().withBackoff(Duration.ofNanos(3), 1 + 1e-15)),
        config.withDeliveryLog(DeliveryLogMode.OFF),
        config.withLimits(
            DeliveryLimits.defaults()
                .withTimeout(Duration.ofSeconds(1), Duration.ofMinutes(1))
                .withRetries(0, 3)
                .withBackoff(Duration.ofSeconds(1), Duration.ofHours(1))
                .withMaxDelays(0)));
  }

  @ParameterizedTest
  @MethodSource("configs")
  void comesBackAsItWas(GroupConfig config) {
    assertThat(GroupDocument.read(config.start(), config.bindings(), GroupDocument.write(config)))
        .isEqualTo(config);
  }

  @Test
  void settingsOfALaterReleaseAreSteppedOver() {
    assertThat(
            GroupDocument.read(
                Start.BEGINNING, Set.of(), "{\"colour\": \"red\", \"max_retries\": 1}"))
        .isEqualTo(GroupConfig.defaults().withRetry(RetryPolicy.defaults().withMaxRetries(1)));
  }
}
