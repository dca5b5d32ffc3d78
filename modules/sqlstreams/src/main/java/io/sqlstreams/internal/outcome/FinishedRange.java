package io.sqlstreams.internal.outcome;

import java.util.List;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A range whose results are to be recorded.
 *
 * @param token the proof of holding it
 * @param restLow the range goes on above this id, since not everything has ended; null when
 *     everything has
 * @param results what is to be written of that which has ended: exceptions, and history
 * @param freedKeys the keys that it holds no more, for which others may wait; see {@link FreedKeys}
 */
public record FinishedRange(
    UUID token, @Nullable Long restLow, List<FinishedMessage> results, Set<String> freedKeys) {}
