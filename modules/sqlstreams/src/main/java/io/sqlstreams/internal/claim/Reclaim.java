package io.sqlstreams.internal.claim;

import org.jspecify.annotations.Nullable;

/**
 * What became of one expired lease.
 *
 * @param found whether there was one
 * @param range what was taken over; null when it was dissolved, or held nothing that this group
 *     wants
 * @param quarantined how many messages of it went into the exception queue
 * @param deferred how many messages of it wait for others of their key now
 */
public record Reclaim(
    boolean found, @Nullable ClaimedRange range, long quarantined, long deferred) {}
