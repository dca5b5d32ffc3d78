package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;
import java.util.Set;

/**
 * How one process consumes. Immutable.
 *
 * @param handlers how many messages are handled at the same time, from 1 to {@value #MAX_HANDLERS};
 *     defaults to {@value #DEFAULT_HANDLERS}
 * @param maxClaim the most messages that one claim takes, from 1 to {@value #MAX_CLAIM}; a claim
 *     takes fewer when handlers are slow; defaults to {@value #DEFAULT_MAX_CLAIM}
 * @param prefetchMessages how many messages may wait in memory for a handler, from 1; defaults to
 *     {@value #DEFAULT_PREFETCH_MESSAGES}
 * @param prefetchBytes how many bytes of payload may wait in memory, from 1; one message is always
 *     admitted, however large; defaults to {@value #DEFAULT_PREFETCH_BYTES} (32 MiB)
 * @param lease how long a claim outlives the last sign of life of its process, from 1 s; so it is
 *     the longest that a crash holds messages back; defaults to 15 s
 * @param heartbeat how often the leases are renewed, at most half of {@code lease}; defaults to 5 s
 * @param pollInterval how often this process looks for messages that it can't be told of, from 1
 *     ms: while it doesn't listen ({@link Notifications}, poolers, a connection that was lost), and
 *     while a group waits for the transaction that holds back the next message. One look is for all
 *     consumptions of the process, at the shortest interval of them. While it listens it hears of
 *     messages at once, and looks every second for those that nobody tells of, as when somebody
 *     else's program wrote them. Defaults to 100 ms
 * @param configRefreshInterval how long a new declaration takes at most to reach this process, from
 *     10 ms; a second at most while it listens, and no more than {@code pollInterval} while it
 *     doesn't, for one look serves both; defaults to 30 s
 * @param maxBatch the most messages that a {@link io.sqlstreams.BatchHandler} is given at once,
 *     from 1 to {@value #MAX_CLAIM}; other handlers don't look at it; defaults to {@value
 *     #DEFAULT_MAX_BATCH}
 * @param notRetryable errors that no retry can mend: a message whose handler throws one of these
 *     classes or a subclass, be it as the cause of another, is dead at once; defaults to none
 */
public record ConsumeOptions(
    int handlers,
    int maxClaim,
    int prefetchMessages,
    long prefetchBytes,
    Duration lease,
    Duration heartbeat,
    Duration pollInterval,
    Duration configRefreshInterval,
    int maxBatch,
    Set<Class<? extends Throwable>> notRetryable) {
  /** Eight messages at a time. */
  public static final int DEFAULT_HANDLERS = 8;

  /** Ten thousand threads. */
  public static final int MAX_HANDLERS = 10_000;

  /** Five hundred messages. */
  public static final int DEFAULT_MAX_CLAIM = 500;

  /** Ten thousand messages: one range is one unit of recovery. */
  public static final int MAX_CLAIM = 10_000;

  /** Two claims of the default size. */
  public static final int DEFAULT_PREFETCH_MESSAGES = 1_000;

  /** 32 MiB. */
  public static final long DEFAULT_PREFETCH_BYTES = 32L << 20;

  /** 15 seconds. */
  public static final Duration DEFAULT_LEASE = Duration.ofSeconds(15);

  /** 5 seconds: two renewals may fail before a lease ends. */
  public static final Duration DEFAULT_HEARTBEAT = Duration.ofSeconds(5);

  /** 100 milliseconds. */
  public static final Duration DEFAULT_POLL_INTERVAL = Duration.ofMillis(100);

  /** 30 seconds. */
  public static final Duration DEFAULT_CONFIG_REFRESH_INTERVAL = Duration.ofSeconds(30);

  /** One hundred messages. */
  public static final int DEFAULT_MAX_BATCH = 100;

  private static final ConsumeOptions DEFAULTS =
      new ConsumeOptions(
          DEFAULT_HANDLERS,
          DEFAULT_MAX_CLAIM,
          DEFAULT_PREFETCH_MESSAGES,
          DEFAULT_PREFETCH_BYTES,
          DEFAULT_LEASE,
          DEFAULT_HEARTBEAT,
          DEFAULT_POLL_INTERVAL,
          DEFAULT_CONFIG_REFRESH_INTERVAL,
          DEFAULT_MAX_BATCH,
          Set.of());

  /**
   * @throws InvalidInputException when a value is outside its range, or two contradict each other
   */
  public ConsumeOptions {
    Numbers.requireBetween("handlers", handlers, 1, MAX_HANDLERS);
    Numbers.requireBetween("maxClaim", maxClaim, 1, MAX_CLAIM);
    Numbers.requireBetween("prefetchMessages", prefetchMessages, 1, Integer.MAX_VALUE);
    Numbers.requireBetween("prefetchBytes", prefetchBytes, 1, Long.MAX_VALUE);
    Durations.requireAtLeast("lease", lease, Duration.ofSeconds(1));
    Durations.requireAtLeast("heartbeat", heartbeat, Duration.ofMillis(10));
    Durations.requireAtLeast("pollInterval", pollInterval, Duration.ofMillis(1));
    Durations.requireAtLeast("configRefreshInterval", configRefreshInterval, Duration.ofMillis(10));
    Numbers.requireBetween("maxBatch", maxBatch, 1, MAX_CLAIM);
    notRetryable = Set.copyOf(notRetryable);
    if (heartbeat.multipliedBy(2).compareTo(lease) > 0) {
      throw new InvalidInputException(
          "heartbeat",
          heartbeat
              + " is more than half of the lease of "
              + lease
              + ": one missed renewal would lose every claim");
    }
  }

  /** Every setting at its default. */
  public static ConsumeOptions defaults() {
    return DEFAULTS;
  }

  /** These settings with another number of messages handled at the same time. */
  public ConsumeOptions withHandlers(int handlers) {
    return new ConsumeOptions(
        handlers,
        maxClaim,
        prefetchMessages,
        prefetchBytes,
        lease,
        heartbeat,
        pollInterval,
        configRefreshInterval,
        maxBatch,
        notRetryable);
  }

  /** These settings with another largest claim. */
  public ConsumeOptions withMaxClaim(int maxClaim) {
    return new ConsumeOptions(
        handlers,
        maxClaim,
        prefetchMessages,
        prefetchBytes,
        lease,
        heartbeat,
        pollInterval,
        configRefreshInterval,
        maxBatch,
        notRetryable);
  }

  /** These settings with other bounds on what waits in memory. */
  public ConsumeOptions withPrefetch(int messages, long bytes) {
    return new ConsumeOptions(
        handlers,
        maxClaim,
        messages,
        bytes,
        lease,
        heartbeat,
        pollInterval,
        configRefreshInterval,
        maxBatch,
        notRetryable);
  }

  /** These settings with another lease and another interval between its renewals. */
  public ConsumeOptions withLease(Duration lease, Duration heartbeat) {
    return new ConsumeOptions(
        handlers,
        maxClaim,
        prefetchMessages,
        prefetchBytes,
        lease,
        heartbeat,
        pollInterval,
        configRefreshInterval,
        maxBatch,
        notRetryable);
  }

  /** These settings with another interval between the looks for messages that nobody tells of. */
  public ConsumeOptions withPollInterval(Duration pollInterval) {
    return new ConsumeOptions(
        handlers,
        maxClaim,
        prefetchMessages,
        prefetchBytes,
        lease,
        heartbeat,
        pollInterval,
        configRefreshInterval,
        maxBatch,
        notRetryable);
  }

  /** These settings with another time until a new declaration of the group is seen. */
  public ConsumeOptions withConfigRefreshInterval(Duration configRefreshInterval) {
    return new ConsumeOptions(
        handlers,
        maxClaim,
        prefetchMessages,
        prefetchBytes,
        lease,
        heartbeat,
        pollInterval,
        configRefreshInterval,
        maxBatch,
        notRetryable);
  }

  /** These settings with another largest batch. */
  public ConsumeOptions withMaxBatch(int maxBatch) {
    return new ConsumeOptions(
        handlers,
        maxClaim,
        prefetchMessages,
        prefetchBytes,
        lease,
        heartbeat,
        pollInterval,
        configRefreshInterval,
        maxBatch,
        notRetryable);
  }

  /** These settings with exactly these errors as not retryable. */
  public ConsumeOptions withNotRetryable(Set<Class<? extends Throwable>> notRetryable) {
    return new ConsumeOptions(
        handlers,
        maxClaim,
        prefetchMessages,
        prefetchBytes,
        lease,
        heartbeat,
        pollInterval,
        configRefreshInterval,
        maxBatch,
        notRetryable);
  }
}
