package io.sqlstreams;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A range of messages that a consuming process holds.
 *
 * @param session the consumption that holds it; null when it was given back and waits for another
 * @param low the ids above this one ...
 * @param high ... up to this one
 * @param expiresAt when others may take it over unless it is renewed, by the database's clock
 * @param reclaims how often it was taken over from a process that had died
 */
public record LeaseInfo(
    @Nullable UUID session, long low, long high, Instant expiresAt, int reclaims) {}
