package io.sqlstreams;

import java.time.Instant;

/**
 * That a message was produced by a schedule. Immutable.
 *
 * @param schedule the schedule's name at that time
 * @param scheduledAt the planned time, a whole second; the message itself may be later. Of a
 *     message by hand, when that was, by the database's clock
 * @param byHand whether {@link ScheduleHandle#runNow} asked for it, beside the planned times
 */
public record ScheduledRun(String schedule, Instant scheduledAt, boolean byHand) {}
