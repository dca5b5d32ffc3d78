package io.sqlstreams.internal.claim;

import java.time.Duration;
import java.util.UUID;

/**
 * Who claims, and how.
 *
 * @param group the group's id
 * @param session the session that the leases belong to
 * @param lease how long a claim outlives its last renewal
 */
public record Claimant(long group, UUID session, Duration lease) {
  /** The lease in microseconds, PostgreSQL's resolution. */
  public long leaseMicros() {
    return lease.toNanos() / 1_000;
  }
}
