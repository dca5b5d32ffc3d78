package io.sqlstreams;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How a stream is kept up.
 *
 * @param partitions the partitions of its log, the lowest ids first
 * @param floor the messages up to this id are given up by retention; 0: none are
 * @param nextExpiry when the time of the lowest partition's newest message is over, by the
 *     database's clock; null when it holds no message, or messages are kept for ever. May be past:
 *     then the partition is on its way out, or held back
 * @param heldBy the groups that hold a partition back whose time is over, by name; empty when none
 *     does, or {@code allowDropPastCommitted} is set
 * @param succeededAt when a turn of the upkeep last ended well, give or take a few minutes; null
 *     when none has yet: then no worker keeps the stream up
 * @param failingSince since when turns go wrong; null when the last one went well
 * @param failures how many have gone wrong since then
 * @param lastError what went wrong the last time, whenever that was; null when nothing has
 */
public record StreamUpkeep(
    List<Partition> partitions,
    long floor,
    @Nullable Instant nextExpiry,
    List<String> heldBy,
    @Nullable Instant succeededAt,
    @Nullable Instant failingSince,
    int failures,
    @Nullable String lastError) {
  /** The lists can't be changed later. */
  public StreamUpkeep {
    partitions = List.copyOf(partitions);
    heldBy = List.copyOf(heldBy);
  }

  /**
   * A partition of a log.
   *
   * @param firstId the lowest message id that it can hold
   * @param lastId the highest
   * @param isDetaching whether it is being taken off
   */
  public record Partition(long firstId, long lastId, boolean isDetaching) {}
}
