package io.sqlstreams.bench.meter;

import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the meters show at one moment.
 *
 * @param walBytes the position in the write-ahead log
 * @param statements the statements that have run in this database, by name; null when the server
 *     doesn't count them
 * @param processors processor time
 */
record Reading(
    long walBytes, @Nullable Map<String, StatementUse> statements, ProcessorTime processors) {}
