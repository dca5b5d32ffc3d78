package io.sqlstreams.internal.outcome;

import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A range whose results are to be recorded.
 *
 * @param token the proof of holding it
 * @param restLow the range is given back above this id, since not everything was begun; null when
 *     everything has ended
 * @param failures what isn't done of that which has ended
 */
public record FinishedRange(UUID token, @Nullable Long restLow, List<FinishedMessage> failures) {}
