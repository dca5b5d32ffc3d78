package io.sqlstreams.internal.claim;

import org.jspecify.annotations.Nullable;

/**
 * What one look at a group's position found, and took.
 *
 * @param claimed where the group stood before
 * @param moved whether it moved on, be it over gaps alone
 * @param needsLock whether a message was met that may have to wait for others of its key: it is
 *     taken only under the lock of the group
 * @param range what was taken; null for nothing
 * @param isBehind whether messages were visible above that
 * @param atGap whether nothing was taken because the first of them lies above an id that isn't
 *     visible
 * @param committedLags whether {@code committed} could be higher
 * @param deferred how many messages were passed by, to wait for others of their key
 * @param someWait whether any message of the group waits so
 * @param leaseExpiresInMicros when the first lease of the group ends; 0 or below: one has ended
 * @param exceptionDueInMicros when the next exception may run; 0 or below: now
 * @param exceptionExpiresInMicros when the first lease of an exception ends; 0 or below: one has
 *     ended
 */
public record Poll(
    long claimed,
    boolean moved,
    boolean needsLock,
    @Nullable ClaimedRange range,
    boolean isBehind,
    boolean atGap,
    boolean committedLags,
    long deferred,
    boolean someWait,
    long leaseExpiresInMicros,
    long exceptionDueInMicros,
    long exceptionExpiresInMicros) {
  /** For "nothing in sight". */
  static final long NEVER = Long.MAX_VALUE;

  /** Whether other sessions hold something of the group. */
  public boolean othersWork() {
    return leaseExpiresInMicros != NEVER || exceptionExpiresInMicros != NEVER;
  }

  /** Whether there is nothing to do before somebody does something about the group. */
  public boolean isIdle() {
    return !someWait && nextInMicros() == NEVER;
  }

  /** When there is something to do even if nothing is produced. */
  public long nextInMicros() {
    return Math.min(leaseExpiresInMicros, Math.min(exceptionDueInMicros, exceptionExpiresInMicros));
  }
}
