package io.sqlstreams;

/**
 * What {@link StreamHandle#sweepHeads} has removed.
 *
 * @param tombstones heads of keys that were deleted longer than {@code tombstoneTtl} ago
 * @param empty locks of keys without a head that nobody has taken for longer than {@code
 *     emptyHeadTtl}
 */
public record HeadSweep(long tombstones, long empty) {}
