package io.sqlstreams;

import io.sqlstreams.config.ExceptionStatus;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A message in a group's exception queue. The payload isn't part of it.
 *
 * @param messageId the message's id
 * @param status what is to become of it
 * @param messageKey the message's key; null when it has none
 * @param attempts the number of the attempt that comes next or runs, 0 for the first; of a dead
 *     message, how many there were. A redrive doesn't set it back
 * @param delays how many attempts since the last redrive asked for a delay
 * @param canRunAfter when the next attempt may begin, by the database's clock; of a message that
 *     doesn't wait for one, when the last one could
 * @param lastError why its last attempt failed; null when none has
 * @param createdAt when it came into the queue, by the database's clock
 * @param updatedAt when its status last changed, by the database's clock
 */
public record ExceptionInfo(
    long messageId,
    ExceptionStatus status,
    @Nullable String messageKey,
    int attempts,
    int delays,
    Instant canRunAfter,
    @Nullable String lastError,
    Instant createdAt,
    Instant updatedAt) {}
