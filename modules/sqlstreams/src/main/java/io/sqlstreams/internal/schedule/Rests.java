package io.sqlstreams.internal.schedule;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Schedules whose messages can't be written at the moment: each is left alone for a while, so that
 * it holds up no other one, for longer each time. Their planned times stay due. For one thread.
 */
final class Rests {
  private static final Duration SHORTEST = Duration.ofSeconds(1);
  private static final Duration LONGEST = Duration.ofMinutes(1);
  private static final Duration FORGOTTEN = Duration.ofMinutes(10);
  private static final int MOST_DOUBLINGS = 6;

  private final Map<Long, Rest> rests = new HashMap<>();

  /**
   * @param failures how many in a row
   * @param until a moment of {@link System#nanoTime}
   */
  private record Rest(int failures, long until) {
    boolean isOver() {
      return System.nanoTime() - until >= 0;
    }
  }

  /** Sends the schedule to rest. */
  void begin(long schedule) {
    Rest before = rests.get(schedule);
    int failures = before == null ? 1 : before.failures() + 1;
    Duration doubled = SHORTEST.multipliedBy(1L << Math.min(failures - 1, MOST_DOUBLINGS));
    Duration length = doubled.compareTo(LONGEST) > 0 ? LONGEST : doubled;
    rests.put(schedule, new Rest(failures, System.nanoTime() + length.toNanos()));
  }

  /** Its messages were written, so its next failure is the first again. */
  void end(long schedule) {
    rests.remove(schedule);
  }

  /** Those that rest at the moment. What hasn't failed for long, or is gone, is forgotten. */
  Long[] resting() {
    rests.values().removeIf(rest -> System.nanoTime() - rest.until() > FORGOTTEN.toNanos());
    return rests.entrySet().stream()
        .filter(entry -> !entry.getValue().isOver())
        .map(Map.Entry::getKey)
        .toArray(Long[]::new);
  }
}
