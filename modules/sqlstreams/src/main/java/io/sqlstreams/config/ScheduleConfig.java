package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;

/**
 * How a schedule produces. Immutable.
 *
 * @param missedRuns what becomes of planned times that nobody could keep; defaults to {@link
 *     MissedRuns#LATEST}
 * @param missedAfter how long past a planned time its message is still produced whatever {@code
 *     missedRuns} says; 0 or above; defaults to {@link #DEFAULT_MISSED_AFTER} (5 s)
 * @param options what goes with the payload of each message; without an idempotency key, since each
 *     planned time has its own; defaults to {@link ProduceOptions#defaults()}
 */
public record ScheduleConfig(MissedRuns missedRuns, Duration missedAfter, ProduceOptions options) {
  /** 5 seconds. */
  public static final Duration DEFAULT_MISSED_AFTER = Duration.ofSeconds(5);

  private static final ScheduleConfig DEFAULTS =
      new ScheduleConfig(MissedRuns.LATEST, DEFAULT_MISSED_AFTER, ProduceOptions.defaults());

  /**
   * @throws InvalidInputException when something is null, the duration is negative, or the options
   *     have an idempotency key
   */
  public ScheduleConfig {
    if (missedRuns == null || missedAfter == null || options == null) {
      throw new InvalidInputException(
          missedRuns == null ? "missedRuns" : missedAfter == null ? "missedAfter" : "options",
          "it is null: leave it at its default");
    }
    Durations.requireNotNegative("missedAfter", missedAfter);
    if (options.idempotencyKey() != null) {
      throw new InvalidInputException(
          "idempotencyKey",
          "a schedule's messages would all be one: leave it out, each planned time has its own");
    }
  }

  /** Every setting at its default. */
  public static ScheduleConfig defaults() {
    return DEFAULTS;
  }

  /** These settings with another way with planned times that nobody could keep. */
  public ScheduleConfig withMissedRuns(MissedRuns missedRuns) {
    return new ScheduleConfig(missedRuns, missedAfter, options);
  }

  /** These settings with another time after which a planned time counts as missed. */
  public ScheduleConfig withMissedAfter(Duration missedAfter) {
    return new ScheduleConfig(missedRuns, missedAfter, options);
  }

  /** These settings with other options of the messages. */
  public ScheduleConfig withOptions(ProduceOptions options) {
    return new ScheduleConfig(missedRuns, missedAfter, options);
  }
}
