package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.lease.Heartbeat;
import io.sqlstreams.internal.lease.LeaseRenewal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/** Everything that a session holds at the moment, until its results are recorded. Thread-safe. */
final class Holdings implements Heartbeat.Holder {
  private final LeaseRenewal renewal;
  private final Duration interval;
  private final Map<UUID, Work> ranges = new ConcurrentHashMap<>();
  private final Map<Long, Work> exceptions = new ConcurrentHashMap<>();

  Holdings(LeaseRenewal renewal, Duration interval) {
    this.renewal = renewal;
    this.interval = interval;
  }

  void add(Work work) {
    if (work.isRange()) {
      ranges.put(work.token(), work);
    } else {
      exceptions.put(work.deliveries().get(0).id(), work);
    }
  }

  void remove(Work work) {
    if (work.isRange()) {
      ranges.remove(work.token(), work);
    } else {
      exceptions.remove(work.deliveries().get(0).id(), work);
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
    Map<UUID, Long> lows = new HashMap<>();
    ranges.forEach((token, work) -> lows.put(token, work.doneUpTo()));
    if (!lows.isEmpty()) {
      Set<UUID> held = renewal.renew(connection, lows);
      lows.keySet().stream().filter(token -> !held.contains(token)).forEach(this::loseRange);
    }
    Map<Long, UUID> tokens = new HashMap<>();
    exceptions.forEach((id, work) -> tokens.put(id, work.token()));
    if (!tokens.isEmpty()) {
      Set<Long> held = renewal.renewExceptions(connection, tokens);
      tokens.forEach(
          (id, token) -> {
            if (!held.contains(id)) {
              loseException(id, token);
            }
          });
    }
  }

  private void loseRange(UUID token) {
    Work work = ranges.get(token);
    if (work != null) {
      work.lose();
    }
  }

  /** The same message may have come back under another token meanwhile. */
  private void loseException(Long id, UUID token) {
    Work work = exceptions.get(id);
    if (work != null && work.token().equals(token)) {
      work.lose();
    }
  }
}
