package io.sqlstreams.internal.claim;

import java.util.List;
import java.util.UUID;

/**
 * A range of the log that a session holds: the ids above {@code low} up to {@code high}.
 *
 * @param token the proof of holding it
 * @param low exclusive
 * @param high inclusive
 * @param messages those of the range that this group wants, in id order; never empty
 */
public record ClaimedRange(UUID token, long low, long high, List<ClaimedMessage> messages) {}
