package io.sqlstreams.internal.upkeep;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.internal.partition.Slice;
import java.util.List;

/**
 * How a stream's log stands.
 *
 * @param lastId the last id that was drawn; 0 when none was
 * @param floor the messages up to this id are given up
 * @param failures how many turns of its upkeep have gone wrong since the last good one
 * @param slices its partitions, the lowest ids first
 */
record Survey(StreamInfo stream, long lastId, long floor, int failures, List<Slice> slices) {}
