package io.sqlstreams.internal.fleet;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How the fleet counts time. Leases are the database's; a process measures only how long ago it
 * asked.
 *
 * @param lease how long a worker stays with a process that gives no sign of life
 * @param renewal how often a process renews what it holds
 * @param look how often it looks for workers that are free, and for those that it is to let go
 * @param firstBackoff how long a worker rests after its first failure; twice as long after each
 *     further one
 * @param longestBackoff the longest rest
 * @param stopWait how long a stop waits for turns that run; less than what is left of a lease by
 *     then, so nobody else begins meanwhile
 * @param logRetention how long the log of instances keeps a row after the expiry that it tells of
 */
public record FleetTiming(
    Duration lease,
    Duration renewal,
    Duration look,
    Duration firstBackoff,
    Duration longestBackoff,
    Duration stopWait,
    Duration logRetention) {
  /** What every client uses. */
  public static final FleetTiming DEFAULT =
      new FleetTiming(
          Duration.ofSeconds(30),
          Duration.ofSeconds(15),
          Duration.ofSeconds(1),
          Duration.ofSeconds(5),
          Duration.ofMinutes(5),
          Duration.ofSeconds(10),
          Duration.ofHours(24));

  /** With this lease, and all else in proportion to it. */
  public static FleetTiming ofLease(Duration lease) {
    return new FleetTiming(
        lease,
        lease.dividedBy(2),
        lease.dividedBy(30),
        lease.dividedBy(6),
        lease.multipliedBy(10),
        lease.dividedBy(3),
        DEFAULT.logRetention);
  }

  /** How long a worker rests after so many failures in a row: up to a fifth shorter by chance. */
  long backoffNanos(int failures) {
    long nanos = firstBackoff.toNanos();
    for (int i = 1; i < failures && nanos < longestBackoff.toNanos(); i++) {
      nanos *= 2;
    }
    nanos = Math.min(nanos, longestBackoff.toNanos());
    return nanos - (long) (nanos * ThreadLocalRandom.current().nextDouble(0.2));
  }
}
