package io.sqlstreams.internal.upkeep;

import io.sqlstreams.StreamInfo;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * What a process remembers of a stream that it keeps up, so that it asks the database only about
 * what may be due. Forgetting it costs a few looks, nothing else. Not thread-safe.
 */
final class Memory {
  /** A stream whose ids don't move is looked at this seldom. */
  private static final Duration LONGEST_PAUSE = Duration.ofSeconds(30);

  private static final Duration SHORTEST_PAUSE = Duration.ofSeconds(1);
  private static final Duration LONGEST_REPRIEVE = Duration.ofMinutes(1);

  /** The first sweeps of many streams don't all come at once. */
  private static final Duration SPREAD = Duration.ofMinutes(1);

  final Due survey = new Due();
  final Due retention = new Due();
  final Due keys = new Due();
  final Due heads = new Due();
  final Due leftovers = new Due();
  final Settlement settlement = new Settlement();

  private final boolean isEager;
  private final Due reprieve = new Due();
  private @Nullable StreamInfo stream;
  private long lastId = -1;
  private Duration pause = SHORTEST_PAUSE;
  private Duration leftoverPause = SHORTEST_PAUSE;
  private Duration retentionPause = SHORTEST_PAUSE;
  private int failures;
  private int failedRemovals;

  /**
   * @param isEager whether everything is due at once, and always
   */
  Memory(boolean isEager) {
    this.isEager = isEager;
    if (!isEager) {
      keys.in(spread());
      heads.in(spread());
      leftovers.in(spread());
    }
  }

  boolean isEager() {
    return isEager;
  }

  private static Duration spread() {
    return Duration.ofMillis(ThreadLocalRandom.current().nextLong(SPREAD.toMillis()));
  }

  boolean isDue(Due due) {
    return isEager || due.isNow();
  }

  /** Whether there may be anything to do, and the last failure is long enough ago. */
  boolean isDue() {
    return isEager
        || reprieve.isNow()
            && (survey.isNow()
                || retention.isNow()
                || keys.isNow()
                || heads.isNow()
                || leftovers.isNow());
  }

  /** Takes in how it stands, and works out when to look again. */
  void surveyed(Survey found) {
    if (!found.stream().equals(stream)) {
      if (stream != null) {
        // declared anew: what was worked out may not hold any more
        retention.now();
        keys.now();
        heads.now();
      }
      stream = found.stream();
    }
    if (found.lastId() != lastId) {
      lastId = found.lastId();
      pause = SHORTEST_PAUSE;
    } else {
      pause = longer(pause, LONGEST_PAUSE);
    }
    survey.in(pause);
  }

  /** Retention has to wait for others: it asks less and less often. */
  void retentionIsHeld(Duration longest) {
    retentionPause = longer(retentionPause, longest);
    retention.in(retentionPause);
  }

  /**
   * Counts a partition that could not be taken off.
   *
   * @return how often that was so one after the other
   */
  int removalFailed() {
    return ++failedRemovals;
  }

  void removed() {
    failedRemovals = 0;
    retentionPause = SHORTEST_PAUSE;
  }

  /** Messages were given up: what belonged to them is swept at once, and what comes late later. */
  void gaveUp() {
    leftoverPause = SHORTEST_PAUSE;
    leftovers.now();
  }

  void leftoversAreSwept(Duration longest) {
    leftoverPause = longer(leftoverPause, longest);
    leftovers.in(leftoverPause);
  }

  /**
   * Counts a turn that went wrong.
   *
   * @return how many did one after the other
   */
  int failed() {
    failures++;
    Duration wait = SHORTEST_PAUSE.multipliedBy(1L << Math.min(failures - 1, 10));
    reprieve.in(wait.compareTo(LONGEST_REPRIEVE) > 0 ? LONGEST_REPRIEVE : wait);
    return failures;
  }

  /** Counts a turn that went well; gives how many before it had not. */
  int succeeded() {
    int before = failures;
    failures = 0;
    return before;
  }

  boolean isFailing() {
    return failures > 0;
  }

  private static Duration longer(Duration pause, Duration longest) {
    Duration doubled = pause.multipliedBy(2);
    return doubled.compareTo(longest) > 0 ? longest : doubled;
  }
}
