package io.sqlstreams.internal.claim;

import io.sqlstreams.internal.log.StoredMessage;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message of the exception queue that a session holds.
 *
 * @param token the proof of holding it
 * @param messageId its id
 * @param attempts which attempt comes now
 * @param delays how many attempts asked for a delay, since the last redrive
 * @param forgiven how many attempts were before the last redrive
 * @param suspect whether the process of its last attempt is gone
 * @param message the message; null when the log holds it no more
 * @param winner the message that has taken its place, so that it is over; null when it is to be run
 */
public record ClaimedException(
    UUID token,
    long messageId,
    int attempts,
    int delays,
    int forgiven,
    boolean suspect,
    @Nullable StoredMessage message,
    @Nullable Long winner) {
  /** Why it is over, when a newer message of its key has taken its place. */
  public String reason() {
    return winner == null ? "" : SupersededSql.reason(winner);
  }
}
