package io.sqlstreams;

import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.error.InvalidInputException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A registered schedule. Immutable.
 *
 * @param id its number, above 0
 * @param name its name
 * @param stream the name of the stream that it produces to
 * @param cron when it runs
 * @param config how it produces
 * @param schemaVersion the schema version of its payload: 1 or above
 * @param payload the payload's bytes
 * @param suspended whether it is suspended, and produces nothing by itself
 * @param nextScheduledAt the first planned time that nothing was produced for yet; null while it is
 *     suspended. It is in the past when nobody could produce since
 * @param lastScheduledAt the last planned time that a message was produced for; null when there is
 *     none
 * @param lastMessageId the id of that message; null when there is none. Of the stream that was the
 *     target then
 * @param createdAt when it was registered for the first time, by the database's clock
 */
public record ScheduleInfo(
    long id,
    String name,
    String stream,
    Cron cron,
    ScheduleConfig config,
    int schemaVersion,
    RawPayload payload,
    boolean suspended,
    @Nullable Instant nextScheduledAt,
    @Nullable Instant lastScheduledAt,
    @Nullable Long lastMessageId,
    Instant createdAt) {
  /**
   * The next planned times, from {@link #nextScheduledAt} on; none while it is suspended. No I/O.
   *
   * @param count how many, 0 or above
   * @throws InvalidInputException when the count is below 0
   */
  public List<Instant> nextTimes(int count) {
    if (count < 0) {
      throw new InvalidInputException("count", "must be 0 or above, not " + count);
    }
    List<Instant> times = new ArrayList<>();
    if (nextScheduledAt != null && count > 0) {
      times.add(nextScheduledAt);
      times.addAll(cron.next(nextScheduledAt, count - 1));
    }
    return List.copyOf(times);
  }
}
