package io.sqlstreams.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sqlstreams.Outcome;
import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class OptionsTest {
  private static final ConsumeOptions CONSUME = ConsumeOptions.defaults();
  private static final GroupConfig GROUP = GroupConfig.defaults();
  private static final RetryPolicy RETRY = RetryPolicy.defaults();
  private static final DeliveryLimits LIMITS = DeliveryLimits.defaults();
  private static final StreamConfig STREAM = StreamConfig.defaults();
  private static final Duration NEGATIVE = Duration.ofNanos(-1);
  private static final Duration TOO_LONG = Duration.ofNanos(Long.MAX_VALUE).plusNanos(1);

  static Stream<Arguments> outOfRange() {
    return Stream.of(
        bad("handlers", () -> CONSUME.withHandlers(0)),
        bad("handlers", () -> CONSUME.withHandlers(-1)),
        bad("handlers", () -> CONSUME.withHandlers(ConsumeOptions.MAX_HANDLERS + 1)),
        bad("maxClaim", () -> CONSUME.withMaxClaim(0)),
        bad("maxClaim", () -> CONSUME.withMaxClaim(ConsumeOptions.MAX_CLAIM + 1)),
        bad("prefetchMessages", () -> CONSUME.withPrefetch(0, 1)),
        bad("prefetchBytes", () -> CONSUME.withPrefetch(1, 0)),
        bad("lease", () -> CONSUME.withLease(Duration.ofMillis(999), Duration.ofMillis(100))),
        bad("lease", () -> CONSUME.withLease(NEGATIVE, Duration.ofMillis(100))),
        bad("lease", () -> CONSUME.withLease(TOO_LONG, Duration.ofMillis(100))),
        bad("heartbeat", () -> CONSUME.withLease(Duration.ofSeconds(15), Duration.ZERO)),
        bad("heartbeat", () -> CONSUME.withLease(Duration.ofSeconds(15), NEGATIVE)),
        bad("pollInterval", () -> CONSUME.withPollInterval(Duration.ZERO)),
        bad("pollInterval", () -> CONSUME.withPollInterval(NEGATIVE)),
        bad("timeout", () -> GROUP.withTimeout(Duration.ZERO)),
        bad("timeout", () -> GROUP.withTimeout(NEGATIVE)),
        bad("timeout", () -> GROUP.withTimeout(TOO_LONG)),
        bad("maxRangeReclaims", () -> GROUP.withMaxRangeReclaims(-1)),
        bad("maxRetries", () -> RETRY.withMaxRetries(-1)),
        bad("initialBackoff", () -> RETRY.withInitialBackoff(NEGATIVE)),
        bad("base", () -> RETRY.withBackoff(NEGATIVE, 2)),
        bad("exponent", () -> RETRY.withBackoff(Duration.ZERO, 0.99)),
        bad("exponent", () -> RETRY.withBackoff(Duration.ZERO, Double.NaN)),
        bad("exponent", () -> RETRY.withBackoff(Duration.ZERO, Double.POSITIVE_INFINITY)),
        bad("cap", () -> RETRY.withCap(Duration.ofMillis(9))),
        bad("cap", () -> RETRY.withCap(NEGATIVE)),
        bad("jitter", () -> RETRY.withJitter(-0.01)),
        bad("jitter", () -> RETRY.withJitter(1.01)),
        bad("jitter", () -> RETRY.withJitter(Double.NaN)),
        bad("maxDelays", () -> RETRY.withMaxDelays(-1)),
        bad("minTimeout", () -> LIMITS.withTimeout(Duration.ZERO, Duration.ofSeconds(1))),
        bad("maxTimeout", () -> LIMITS.withTimeout(Duration.ofSeconds(1), TOO_LONG)),
        bad("minRetries", () -> LIMITS.withRetries(-1, 1)),
        bad("maxRetries", () -> LIMITS.withRetries(0, -1)),
        bad("minBackoff", () -> LIMITS.withBackoff(NEGATIVE, Duration.ofSeconds(1))),
        bad("maxBackoff", () -> LIMITS.withBackoff(Duration.ZERO, Duration.ofMillis(9))),
        bad("maxDelays", () -> LIMITS.withMaxDelays(-1)),
        bad("timeout", () -> ProduceOptions.defaults().withTimeout(Duration.ZERO)),
        bad("messageId", () -> Start.after(-1)),
        bad("configRefreshInterval", () -> CONSUME.withConfigRefreshInterval(Duration.ZERO)),
        bad("maxBatch", () -> CONSUME.withMaxBatch(0)),
        bad("maxBatch", () -> CONSUME.withMaxBatch(ConsumeOptions.MAX_CLAIM + 1)),
        bad("partitionSize", () -> STREAM.withPartitionSize(99)),
        bad("partitionSize", () -> STREAM.withPartitionSize(-1)),
        bad("partitionSize", () -> STREAM.withPartitionSize(StreamConfig.MAX_PARTITION_SIZE + 1)),
        bad("maxPayloadBytes", () -> STREAM.withMaxPayloadBytes(0)),
        bad(
            "maxPayloadBytes",
            () -> STREAM.withMaxPayloadBytes(StreamConfig.MAX_PAYLOAD_BYTES + 1)),
        bad("idempotencyKeyTtl", () -> STREAM.withIdempotencyKeyTtl(Duration.ZERO)),
        bad("idempotencyKeyTtl", () -> STREAM.withIdempotencyKeyTtl(TOO_LONG)),
        bad("retention", () -> STREAM.withRetention(NEGATIVE)),
        bad("retention", () -> STREAM.withRetention(Duration.ZERO)),
        bad("retention", () -> STREAM.withRetention(TOO_LONG)),
        bad("after", () -> Outcome.delay(NEGATIVE)),
        bad("after", () -> Outcome.delay(TOO_LONG)));
  }

  @ParameterizedTest
  @MethodSource("outOfRange")
  void aValueOutsideItsRangeIsNamed(String field, Supplier<?> options) {
    assertThatThrownBy(options::get)
        .isInstanceOfSatisfying(
            InvalidInputException.class, e -> assertThat(e.field()).isEqualTo(field))
        .hasMessageStartingWith(field + ": must be ");
  }

  @Test
  void ofTwoThatContradictBothAreNamed() {
    assertThatThrownBy(() -> CONSUME.withLease(Duration.ofSeconds(4), Duration.ofMillis(2_001)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll("heartbeat", "PT2.001S", "lease", "PT4S");
    contradict(
        () -> STREAM.withRetention(Duration.ofMillis(9_999)),
        "retention",
        "PT9.999S",
        "sweepInterval",
        "PT10S");
    assertThatThrownBy(() -> RETRY.withCap(Duration.ofSeconds(4)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll("initialBackoff", "PT5S", "cap", "PT4S");
    contradict(
        () -> LIMITS.withTimeout(Duration.ofSeconds(2), Duration.ofSeconds(1)),
        "minTimeout",
        "PT2S",
        "maxTimeout",
        "PT1S");
    contradict(() -> LIMITS.withRetries(3, 2), "minRetries", "3", "maxRetries", "2");
    contradict(
        () -> LIMITS.withBackoff(Duration.ofSeconds(2), Duration.ofSeconds(1)),
        "minBackoff",
        "PT2S",
        "maxBackoff",
        "PT1S");
    contradict(
        () -> GROUP.withLimits(LIMITS.withTimeout(Duration.ofSeconds(31), Duration.ofSeconds(40))),
        "timeout",
        "PT30S",
        "PT31S");
    contradict(() -> GROUP.withLimits(LIMITS.withRetries(0, 2)), "maxRetries", "3", "2");
    contradict(
        () -> GROUP.withLimits(LIMITS.withBackoff(Duration.ZERO, Duration.ofMinutes(4))),
        "cap",
        "PT5M",
        "PT4M");
    contradict(
        () -> GROUP.withRetry(RETRY.withMaxDelays(6)).withLimits(LIMITS.withMaxDelays(5)),
        "maxDelays",
        "6",
        "5");
  }

  private static void contradict(ThrowableAssert.ThrowingCallable options, String... named) {
    assertThatThrownBy(options)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll(named);
  }

  @Test
  void theEndsOfTheRangesAreInside() {
    assertThat(
            List.of(
                CONSUME
                    .withHandlers(1)
                    .withMaxClaim(1)
                    .withPrefetch(1, 1)
                    .withLease(Duration.ofSeconds(1), Duration.ofMillis(500))
                    .withPollInterval(Duration.ofMillis(1)),
                CONSUME
                    .withHandlers(ConsumeOptions.MAX_HANDLERS)
                    .withMaxClaim(ConsumeOptions.MAX_CLAIM)
                    .withPrefetch(Integer.MAX_VALUE, Long.MAX_VALUE),
                STREAM.withPartitionSize(StreamConfig.MIN_PARTITION_SIZE).withMaxPayloadBytes(1),
                STREAM
                    .withPartitionSize(StreamConfig.MAX_PARTITION_SIZE)
                    .withMaxPayloadBytes(StreamConfig.MAX_PAYLOAD_BYTES),
                GROUP.withTimeout(Duration.ofNanos(Long.MAX_VALUE)).withMaxRangeReclaims(0),
                RETRY
                    .withMaxRetries(0)
                    .withInitialBackoff(Duration.ZERO)
                    .withBackoff(Duration.ZERO, 1)))
        .doesNotContainNull();
  }

  private static Arguments bad(String field, Supplier<?> options) {
    return arguments(field, options);
  }
}
