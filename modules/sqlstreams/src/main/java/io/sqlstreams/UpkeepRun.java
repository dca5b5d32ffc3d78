package io.sqlstreams;

/**
 * What {@link StreamHandle#runUpkeep} has done.
 *
 * @param partitionsCreated how many partitions were made ahead of need
 * @param partitionsDropped how many were taken off the log, because their time was over
 * @param keys how many idempotency keys were removed, because theirs was
 * @param heads how many heads of deleted keys, and locks of keys without a head
 * @param exceptions how many entries of exception queues whose messages are dropped
 * @param deliveries how many entries of the delivery log whose messages are
 */
public record UpkeepRun(
    int partitionsCreated,
    int partitionsDropped,
    long keys,
    long heads,
    long exceptions,
    long deliveries) {}
