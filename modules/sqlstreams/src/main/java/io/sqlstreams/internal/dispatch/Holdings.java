package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.lease.Heartbeat;
import io.sqlstreams.internal.lease.LeaseRenewal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Everything that a session holds at the moment, until its results are recorded. Thread-safe. */
final class Holdings implements Heartbeat.Holder {
  private final LeaseRenewal renewal;
  private final Duration interval;
  private final long leaseNanos;
  private final AtomicInteger messages = new AtomicInteger();
  private final Map<UUID, Work> ranges = new ConcurrentHashMap<>();
  private final Map<Long, Work> exceptions = new ConcurrentHashMap<>();

  /**
   * @param interval how often the leases are renewed
   * @param lease how long they last
   */
  Holdings(LeaseRenewal renewal, Duration interval, Duration lease) {
    this.renewal = renewal;
    this.interval = interval;
    this.leaseNanos = lease.toNanos();
  }

  /** The end of a lease that is taken or renewed by a statement that is sent now or later. */
  long leaseFromNow() {
    return System.nanoTime() + leaseNanos;
  }

  /** How many messages are held: waiting, running, or with a result that isn't recorded yet. */
  int messages() {
    return messages.get();
  }

  /** The tokens of everything that is held. */
  Set<UUID> tokens() {
    Set<UUID> tokens = new HashSet<>(ranges.keySet());
    exceptions.values().forEach(work -> tokens.add(work.token()));
    return tokens;
  }

  /** The tokens of ranges in whose keys this session keeps the order. */
  Set<UUID> chained() {
    return ranges.values().stream()
        .filter(work -> work.order() == Work.Order.SESSION && !work.isLost())
        .map(Work::token)
        .collect(Collectors.toSet());
  }

  void add(Work work) {
    messages.addAndGet(work.deliveries().size());
    if (work.isRange()) {
      ranges.put(work.token(), work);
    } else {
      // an earlier attempt may still run, whose lease was lost, or whose result was recorded a
      // moment ago;
      // nothing of it is to be renewed or recorded
      Work earlier = exceptions.put(work.deliveries().get(0).id(), work);
      if (earlier != null) {
        earlier.lose();
        messages.addAndGet(-earlier.deliveries().size());
      }
    }
  }

  void remove(Work work) {
    boolean removed =
        work.isRange()
            ? ranges.remove(work.token(), work)
            : exceptions.remove(work.deliveries().get(0).id(), work);
    if (removed) {
      messages.addAndGet(-work.deliveries().size());
    }
  }

  /** Whether something is held that may have ended a process. */
  boolean haveSuspect() {
    return exceptions.values().stream().anyMatch(Work::isSuspect);
  }

  /** What hasn't ended completely: nothing, or not all of it, was begun. */
  List<Work> unfinished() {
    return Stream.concat(ranges.values().stream(), exceptions.values().stream())
        .filter(work -> !work.hasEnded())
        .toList();
  }

  @Override
  public Duration interval() {
    return interval;
  }

  @Override
  public void renew(Connection connection) throws SQLException {
    renewRanges(connection);
    renewExceptions(connection);
  }

  private void renewRanges(Connection connection) throws SQLException {
    Map<UUID, Long> lows = new HashMap<>();
    ranges.forEach((token, work) -> lows.put(token, work.doneUpTo()));
    if (lows.isEmpty()) {
      return;
    }
    long until = leaseFromNow();
    Set<UUID> held = renewal.renew(connection, lows);
    for (UUID token : lows.keySet()) {
      settle(ranges.get(token), token, held.contains(token), until);
    }
  }

  private void renewExceptions(Connection connection) throws SQLException {
    Map<Long, UUID> tokens = new HashMap<>();
    exceptions.forEach((id, work) -> tokens.put(id, work.token()));
    if (tokens.isEmpty()) {
      return;
    }
    long until = leaseFromNow();
    Set<Long> held = renewal.renewExceptions(connection, tokens);
    tokens.forEach((id, token) -> settle(exceptions.get(id), token, held.contains(id), until));
  }

  /**
   * Work may have been completed meanwhile, and the same message have come back under another
   * token.
   */
  private static void settle(@Nullable Work work, UUID token, boolean held, long until) {
    if (work == null || !work.token().equals(token)) {
      return;
    }
    if (held) {
      work.hold(until);
    } else {
      work.lose();
    }
  }
}
