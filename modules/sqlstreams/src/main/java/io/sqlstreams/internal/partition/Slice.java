package io.sqlstreams.internal.partition;

/**
 * A partition of a log, as the catalog has it.
 *
 * @param streamId the stream
 * @param name its name with its schema, quoted
 * @param firstId the lowest id that it can hold
 * @param lastId the highest
 * @param isDetaching whether it is being taken off: who looks at the log from now on doesn't see it
 */
public record Slice(long streamId, String name, long firstId, long lastId, boolean isDetaching) {}
