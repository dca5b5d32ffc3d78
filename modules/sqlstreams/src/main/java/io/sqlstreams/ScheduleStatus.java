package io.sqlstreams;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Where a schedule stands, and what became of its last message. Immutable.
 *
 * @param schedule the schedule
 * @param lastMessage the message of the last planned time, with its lot in each group of the
 *     stream; null when there is none, or when the stream doesn't hold it any more
 */
public record ScheduleStatus(ScheduleInfo schedule, @Nullable MessageInfo lastMessage) {
  /** What became of the last message in each group of the stream; empty when there is none. */
  public List<GroupDelivery> groups() {
    return lastMessage == null ? List.of() : lastMessage.deliveries();
  }
}
