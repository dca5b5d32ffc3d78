package io.sqlstreams.internal.produce;

import io.sqlstreams.ScheduledRun;
import io.sqlstreams.config.ProduceOptions;

/**
 * A message that was encoded when its schedule was registered. The array is never changed.
 *
 * @param schemaVersion the version of its payload
 * @param payload what the codec wrote
 * @param options what goes with it
 * @param run which run of its schedule it is
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
public record PlannedMessage(
    int schemaVersion, byte[] payload, ProduceOptions options, ScheduledRun run) {}
