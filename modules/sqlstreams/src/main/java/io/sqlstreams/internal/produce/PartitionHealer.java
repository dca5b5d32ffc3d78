package io.sqlstreams.internal.produce;

import io.sqlstreams.StreamInfo;

/** Creates what is missing of a log's partitions. */
@FunctionalInterface
public interface PartitionHealer {
  /**
   * Returns when every id from the lowest that the log still takes through this one has a
   * partition, in a transaction of its own that is committed. It must not need a lock that a writer
   * of the log excludes: the writer may be the one that waits.
   */
  void ensureThrough(StreamInfo stream, long id);
}
