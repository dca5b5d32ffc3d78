package io.sqlstreams.internal.claim;

import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Who claims, and how.
 *
 * @param group the group's id
 * @param session the session that the leases belong to
 * @param lease how long a claim outlives its last renewal
 * @param schemaVersion the version of messages that the group reads; null for all
 * @param maxRangeReclaims how often a range is taken over before it is dissolved
 */
public record Claimant(
    long group,
    UUID session,
    Duration lease,
    @Nullable Integer schemaVersion,
    int maxRangeReclaims) {
  /** The lease in microseconds, PostgreSQL's resolution. */
  public long leaseMicros() {
    return lease.toNanos() / 1_000;
  }
}
