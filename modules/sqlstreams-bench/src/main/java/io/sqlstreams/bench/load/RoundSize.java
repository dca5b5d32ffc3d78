package io.sqlstreams.bench.load;

import java.time.Duration;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * How long a round lasts.
 *
 * @param messages how many messages it produces; null for as many as the scenario likes
 * @param time how long it produces instead; null for until the messages are produced
 */
public record RoundSize(@Nullable Long messages, @Nullable Duration time) {
  /**
   * Faster than any table takes rows in one process, for what must exist before a round of a given
   * time.
   */
  private static final long MOST_A_SECOND = 1_000_000;

  /** What each scenario likes. */
  public static RoundSize ofScenario() {
    return new RoundSize(null, null);
  }

  /** So many messages. */
  public static RoundSize of(long messages) {
    return new RoundSize(messages, null);
  }

  /** As many messages as this time lets through. */
  public static RoundSize of(Duration time) {
    return new RoundSize(null, time);
  }

  /** The quota of one round, of a scenario that likes so many messages. */
  public Quota quota(long scenarioMessages) {
    if (time != null) {
      return new Quota(OptionalLong.empty(), time, (time.toSeconds() + 1) * MOST_A_SECOND);
    }
    long wanted = messages == null ? scenarioMessages : messages;
    return new Quota(OptionalLong.of(wanted), null, wanted);
  }
}
