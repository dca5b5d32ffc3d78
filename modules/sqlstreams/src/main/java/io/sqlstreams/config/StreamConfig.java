package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a stream is declared to be. Immutable.
 *
 * @param payloadType the type of the payload column; fixed at creation; defaults to {@link
 *     PayloadType#JSON}
 * @param partitionSize how many message ids one partition of the log spans, from {@value
 *     #MIN_PARTITION_SIZE} to {@value #MAX_PARTITION_SIZE}; fixed at creation; defaults to {@value
 *     #DEFAULT_PARTITION_SIZE}
 * @param maxPayloadBytes the largest payload that is accepted, in bytes, from 1 to {@value
 *     #MAX_PAYLOAD_BYTES}; defaults to {@value #DEFAULT_MAX_PAYLOAD_BYTES} (16 MiB)
 * @param idempotencyKeyTtl how long an idempotency key lives after its message was written: within
 *     it, another message with the key is a duplicate; after it, the key is as if it had never been
 *     used. By the database's clock; at least 1 ms; defaults to {@link
 *     #DEFAULT_IDEMPOTENCY_KEY_TTL} (1 day). Producers that run already follow a newer declaration
 *     within 30 s, and it counts for keys that are there already
 * @param tombstoneTtl how long a deleted key of compacted messages is still known to be deleted:
 *     until then its tombstone is its head; after it, the head can be swept away ({@link
 *     io.sqlstreams.StreamHandle#sweepHeads}), and the key is as if it had never been used. By the
 *     database's clock; at least 1 ms; defaults to {@link #DEFAULT_TOMBSTONE_TTL} (1 day)
 * @param emptyHeadTtl how long the lock of a key without a head is kept after it was last taken,
 *     until it can be swept away. By the database's clock; at least 1 ms; defaults to {@link
 *     #DEFAULT_EMPTY_HEAD_TTL} (1 hour)
 * @param retention how long a message is kept at least; null, the default, keeps all for ever.
 *     Messages go by whole partitions: one is dropped when its newest message is older than this
 *     and every group has committed past it, and what it held then goes with it: its dead messages,
 *     its delivery log, its compaction heads. By the database's clock; at least {@link
 *     #SWEEP_INTERVAL}. A newer declaration counts for what is there already
 * @param allowDropPastCommitted whether a partition whose time is over is dropped though groups
 *     have not committed past it; defaults to false. Each group that loses messages so gets an
 *     entry in its operation log, with their number and ids, and a warning is logged
 */
public record StreamConfig(
    PayloadType payloadType,
    long partitionSize,
    int maxPayloadBytes,
    Duration idempotencyKeyTtl,
    Duration tombstoneTtl,
    Duration emptyHeadTtl,
    @Nullable Duration retention,
    boolean allowDropPastCommitted) {
  /** One million ids. */
  public static final long DEFAULT_PARTITION_SIZE = 1_000_000;

  /** Below this a stream would consist of partitions. */
  public static final long MIN_PARTITION_SIZE = 100;

  /** Above this a partition is no longer a unit that can be dropped. */
  public static final long MAX_PARTITION_SIZE = 1_000_000_000_000L;

  /** 16 MiB. */
  public static final int DEFAULT_MAX_PAYLOAD_BYTES = 16 << 20;

  /**
   * 256 MiB: PostgreSQL can't send a value above 1 GB, and a bytea may take up to four times its
   * size as text.
   */
  public static final int MAX_PAYLOAD_BYTES = 256 << 20;

  /** 1 day. */
  public static final Duration DEFAULT_IDEMPOTENCY_KEY_TTL = Duration.ofDays(1);

  /** 1 day. */
  public static final Duration DEFAULT_TOMBSTONE_TTL = Duration.ofDays(1);

  /** 1 hour. */
  public static final Duration DEFAULT_EMPTY_HEAD_TTL = Duration.ofHours(1);

  /** How often it is looked for what has expired, 10 s; no retention is shorter. */
  public static final Duration SWEEP_INTERVAL = Duration.ofSeconds(10);

  private static final Duration SHORTEST_TTL = Duration.ofMillis(1);

  private static final StreamConfig DEFAULTS =
      new StreamConfig(
          PayloadType.JSON,
          DEFAULT_PARTITION_SIZE,
          DEFAULT_MAX_PAYLOAD_BYTES,
          DEFAULT_IDEMPOTENCY_KEY_TTL,
          DEFAULT_TOMBSTONE_TTL,
          DEFAULT_EMPTY_HEAD_TTL,
          null,
          false);

  /**
   * @throws InvalidInputException when a value is outside its range
   */
  public StreamConfig {
    if (partitionSize < MIN_PARTITION_SIZE || partitionSize > MAX_PARTITION_SIZE) {
      throw new InvalidInputException(
          "partitionSize",
          "must be from "
              + MIN_PARTITION_SIZE
              + " to "
              + MAX_PARTITION_SIZE
              + ", not "
              + partitionSize);
    }
    if (maxPayloadBytes < 1 || maxPayloadBytes > MAX_PAYLOAD_BYTES) {
      throw new InvalidInputException(
          "maxPayloadBytes", "must be from 1 to " + MAX_PAYLOAD_BYTES + ", not " + maxPayloadBytes);
    }
    Durations.requireAtLeast("idempotencyKeyTtl", idempotencyKeyTtl, SHORTEST_TTL);
    Durations.requireAtLeast("tombstoneTtl", tombstoneTtl, SHORTEST_TTL);
    Durations.requireAtLeast("emptyHeadTtl", emptyHeadTtl, SHORTEST_TTL);
    if (retention != null) {
      requireSweepable(retention);
    }
  }

  private static void requireSweepable(Duration retention) {
    if (retention.isNegative() || retention.isZero()) {
      throw new InvalidInputException(
          "retention", "must be a time above zero, or none, not " + retention);
    }
    if (retention.compareTo(SWEEP_INTERVAL) < 0) {
      throw new InvalidInputException(
          "retention",
          "must be at least the sweep interval, sweepInterval "
              + SWEEP_INTERVAL
              + ", not "
              + retention);
    }
    Durations.requireAtLeast("retention", retention, SWEEP_INTERVAL);
  }

  /** Every setting at its default. */
  public static StreamConfig defaults() {
    return DEFAULTS;
  }

  /** These settings with another payload type. */
  public StreamConfig withPayloadType(PayloadType payloadType) {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        retention,
        allowDropPastCommitted);
  }

  /** These settings with another number of ids in a partition. */
  public StreamConfig withPartitionSize(long partitionSize) {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        retention,
        allowDropPastCommitted);
  }

  /** These settings with another limit on the payload, in bytes. */
  public StreamConfig withMaxPayloadBytes(int maxPayloadBytes) {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        retention,
        allowDropPastCommitted);
  }

  /** These settings with another time for which an idempotency key lives. */
  public StreamConfig withIdempotencyKeyTtl(Duration idempotencyKeyTtl) {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        retention,
        allowDropPastCommitted);
  }

  /** These settings with another time for which a deleted key is known to be deleted. */
  public StreamConfig withTombstoneTtl(Duration tombstoneTtl) {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        retention,
        allowDropPastCommitted);
  }

  /** These settings with another time for which the lock of a key without a head is kept. */
  public StreamConfig withEmptyHeadTtl(Duration emptyHeadTtl) {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        retention,
        allowDropPastCommitted);
  }

  /** These settings with a time for which a message is kept at least. */
  public StreamConfig withRetention(Duration retention) {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        retention,
        allowDropPastCommitted);
  }

  /** These settings with all messages kept for ever. */
  public StreamConfig withoutRetention() {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        null,
        allowDropPastCommitted);
  }

  /** These settings with another answer to whether what groups have not read may be dropped. */
  public StreamConfig withAllowDropPastCommitted(boolean allowDropPastCommitted) {
    return new StreamConfig(
        payloadType,
        partitionSize,
        maxPayloadBytes,
        idempotencyKeyTtl,
        tombstoneTtl,
        emptyHeadTtl,
        retention,
        allowDropPastCommitted);
  }
}
