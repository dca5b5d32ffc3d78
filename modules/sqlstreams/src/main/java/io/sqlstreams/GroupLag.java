package io.sqlstreams;

/**
 * The messages that a group would be given if nothing more were produced. Each is in one of the
 * three parts. Messages that retention has dropped, ids that were rolled back, dead messages, and
 * those that the group's bindings and schema versions pass over aren't in any. Immutable.
 *
 * @param unclaimed visible messages that nobody has claimed yet, those behind a gap that isn't
 *     proven yet included; 0 or above
 * @param open messages in claimed ranges that aren't finished, those of them that are handled
 *     already included; 0 or above
 * @param unresolved messages of the exception queue that are neither dead nor superseded; 0 or
 *     above
 * @param isExact whether every message was counted. If not, more than {@link
 *     GroupSnapshot#COUNT_LIMIT} messages lie above {@code claimed}, read by the group or not, or
 *     more are in the exception queue. So many were looked at and those of the group counted, and
 *     behind them each id counts as one of its messages up to the newest message, or to {@code
 *     claimed}: an upper bound
 */
public record GroupLag(long unclaimed, long open, long unresolved, boolean isExact) {
  /** All three parts together; 0 or above. */
  public long messages() {
    return unclaimed + open + unresolved;
  }
}
