package io.sqlstreams;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a rewind did, or would do.
 *
 * @param claimedBefore the id up to which the group had claimed the stream before
 * @param position the id after which it reads again, at or below {@code claimedBefore}
 * @param messages how many messages of the stream lie above {@code position} up to {@code
 *     claimedBefore} and are read by the group, by its bindings and schema versions as they are
 *     now: they are delivered again
 * @param firstId the lowest id of them; null when there are none
 * @param lastId the highest id of them; null when there are none
 * @param firstCreatedAt when the message {@code firstId} was produced, by the database's clock;
 *     null when there are none
 * @param lastCreatedAt when the message {@code lastId} was produced, by the database's clock; null
 *     when there are none
 * @param openExceptions how many messages above {@code position} leave the exception queue where
 *     they were ready, deferred or in flight
 * @param deadExceptions how many messages above {@code position} leave the exception queue where
 *     they were dead
 */
public record Rewind(
    long claimedBefore,
    long position,
    long messages,
    @Nullable Long firstId,
    @Nullable Long lastId,
    @Nullable Instant firstCreatedAt,
    @Nullable Instant lastCreatedAt,
    long openExceptions,
    long deadExceptions) {}
