package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What a consumer group is declared to be. Running consumers read it again now and then ({@link
 * ConsumeOptions#configRefreshInterval}), so a change needs no restart. Immutable.
 *
 * @param start where the group begins when it is first registered; later declarations don't move
 *     it; defaults to {@link Start#BEGINNING}
 * @param retry what happens to failed messages that don't ask for a policy of their own; defaults
 *     to {@link RetryPolicy#defaults()}
 * @param timeout how long a handler may take for a message that doesn't ask for a timeout of its
 *     own, at least 1 ms; then its thread is interrupted; defaults to 30 s
 * @param limits what messages may ask for; defaults to {@link DeliveryLimits#defaults()}
 * @param maxRangeReclaims how often a range of messages may be taken over from a crashed process
 *     before its messages are handed out one by one, 0 or above; defaults to {@value
 *     #DEFAULT_MAX_RANGE_RECLAIMS}
 * @param deliveryLog which attempts leave a row in the delivery log; defaults to {@link
 *     DeliveryLogMode#FAILURES}
 * @param concurrency how the messages of a key are handed out that don't ask for a way of their
 *     own; a change holds in every process once all have read it ({@link
 *     ConsumeOptions#configRefreshInterval}); defaults to {@link Concurrency#PARALLEL}
 * @param concurrencyOverride the same for all messages, whatever they ask for; null to let them
 *     ask; defaults to null
 * @param bindings which messages the group reads: those that any of these matches, at most {@value
 *     #MAX_BINDINGS}; with none of them, which is the default, all. It is one set: a declaration
 *     replaces the whole of it, from a point on that {@code ConsumerGroup.bindings()} tells
 */
public record GroupConfig(
    Start start,
    RetryPolicy retry,
    Duration timeout,
    DeliveryLimits limits,
    int maxRangeReclaims,
    DeliveryLogMode deliveryLog,
    Concurrency concurrency,
    @Nullable Concurrency concurrencyOverride,
    Set<Binding> bindings) {
  /** 30 seconds. */
  public static final Duration DEFAULT_TIMEOUT = Duration.ofSeconds(30);

  /** After three crashes over the same range its messages go on one by one. */
  public static final int DEFAULT_MAX_RANGE_RECLAIMS = 3;

  /** The most bindings of a group: each message is compared with each of them at worst. */
  public static final int MAX_BINDINGS = 1_000;

  private static final GroupConfig DEFAULTS =
      new GroupConfig(
          Start.BEGINNING,
          RetryPolicy.defaults(),
          DEFAULT_TIMEOUT,
          DeliveryLimits.defaults(),
          DEFAULT_MAX_RANGE_RECLAIMS,
          DeliveryLogMode.FAILURES,
          Concurrency.PARALLEL,
          null,
          Set.of());

  /**
   * @throws InvalidInputException when a value is outside its range, or lies outside the limits
   */
  public GroupConfig {
    Durations.requireAtLeast("timeout", timeout, Durations.SHORTEST_TIMEOUT);
    Numbers.requireNotNegative("maxRangeReclaims", maxRangeReclaims);
    requireWithin("timeout", timeout, limits.minTimeout(), limits.maxTimeout());
    requireWithin("maxRetries", retry.maxRetries(), limits.minRetries(), limits.maxRetries());
    requireWithin("cap", retry.cap(), limits.minBackoff(), limits.maxBackoff());
    if (limits.maxDelays() != RetryPolicy.UNLIMITED && retry.maxDelays() != RetryPolicy.UNLIMITED) {
      requireWithin("maxDelays", retry.maxDelays(), 0, limits.maxDelays());
    }
    bindings = requireBindings(bindings);
  }

  /** Every setting at its default. */
  public static GroupConfig defaults() {
    return DEFAULTS;
  }

  /** These settings with another beginning. */
  public GroupConfig withStart(Start start) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        bindings);
  }

  /** These settings with another retry policy. */
  public GroupConfig withRetry(RetryPolicy retry) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        bindings);
  }

  /** These settings with another time that a handler may take for one message. */
  public GroupConfig withTimeout(Duration timeout) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        bindings);
  }

  /** These settings with other limits on what messages may ask for. */
  public GroupConfig withLimits(DeliveryLimits limits) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        bindings);
  }

  /**
   * These settings with another number of take-overs before a range is handed out message by
   * message.
   */
  public GroupConfig withMaxRangeReclaims(int maxRangeReclaims) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        bindings);
  }

  /** These settings with another choice of attempts that leave a row in the delivery log. */
  public GroupConfig withDeliveryLog(DeliveryLogMode deliveryLog) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        bindings);
  }

  /** These settings with another way to hand out the messages of a key that don't ask for one. */
  public GroupConfig withConcurrency(Concurrency concurrency) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        bindings);
  }

  /** These settings with a way to hand out the messages of a key whatever they ask for. */
  public GroupConfig withConcurrencyOverride(@Nullable Concurrency concurrencyOverride) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        bindings);
  }

  /**
   * These settings with bindings on the routing key in place of those so far.
   *
   * @param pattern see {@link Binding.RoutingKey}
   * @param more further ones: any may match
   * @throws InvalidInputException as in {@link Binding#routingKey}, or when there are more than
   *     {@value #MAX_BINDINGS}
   */
  public GroupConfig withBindings(String pattern, String... more) {
    List<Binding> patterns = new ArrayList<>();
    patterns.add(Binding.routingKey(pattern));
    for (String each : required(more)) {
      patterns.add(Binding.routingKey(each));
    }
    return withBindings(patterns);
  }

  /**
   * These settings with other bindings in place of those so far.
   *
   * @param more further ones: any may match
   * @throws InvalidInputException when one is null, or there are more than {@value #MAX_BINDINGS}
   */
  public GroupConfig withBindings(Binding binding, Binding... more) {
    List<Binding> bindings = new ArrayList<>();
    bindings.add(binding);
    Collections.addAll(bindings, required(more));
    return withBindings(bindings);
  }

  /**
   * These settings with other bindings in place of those so far.
   *
   * @param bindings any may match; none of them: the group reads every message
   * @throws InvalidInputException when it or one of them is null, or there are more than {@value
   *     #MAX_BINDINGS} different ones
   */
  public GroupConfig withBindings(Collection<? extends Binding> bindings) {
    return new GroupConfig(
        start,
        retry,
        timeout,
        limits,
        maxRangeReclaims,
        deliveryLog,
        concurrency,
        concurrencyOverride,
        new LinkedHashSet<>(required(bindings)));
  }

  /** In the order in which they were declared; which doesn't matter to equality. */
  private static Set<Binding> requireBindings(@Nullable Set<Binding> bindings) {
    Set<Binding> copy = new LinkedHashSet<>(required(bindings));
    for (@Nullable Binding binding : copy) {
      required(binding);
    }
    if (copy.size() > MAX_BINDINGS) {
      throw new InvalidInputException(
          "bindings",
          "they are "
              + copy.size()
              + ", the limit is "
              + MAX_BINDINGS
              + ": let patterns cover several, or bind to a header");
    }
    return Collections.unmodifiableSet(copy);
  }

  private static <B> B required(@Nullable B bindings) {
    if (bindings == null) {
      throw new InvalidInputException(
          "bindings", "one of them is null: leave it out, an empty set reads every message");
    }
    return bindings;
  }

  private static <C extends Comparable<C>> void requireWithin(
      String field, C value, C least, C most) {
    if (value.compareTo(least) < 0 || value.compareTo(most) > 0) {
      throw new InvalidInputException(
          field,
          value
              + " is outside the group's limits, "
              + least
              + " to "
              + most
              + ": change it or the limits");
    }
  }
}
