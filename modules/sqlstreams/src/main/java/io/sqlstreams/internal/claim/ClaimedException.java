package io.sqlstreams.internal.claim;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.internal.log.StoredMessage;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message of the exception queue that a session holds.
 *
 * @param token the proof of holding it
 * @param messageId its id
 * @param key its message key
 * @param concurrency how it is handed out among those of its key
 * @param attempts which attempt comes now
 * @param delays how many attempts asked for a delay, since the last redrive
 * @param forgiven how many attempts were before the last redrive
 * @param suspect whether the process of its last attempt is gone
 * @param isVersionRead whether the group declares the message's schema version
 * @param message the message; null when the log holds it no more
 * @param winner the message that has taken its place, so that it is over; null when it is to be run
 */
public record ClaimedException(
    UUID token,
    long messageId,
    @Nullable String key,
    Concurrency concurrency,
    int attempts,
    int delays,
    int forgiven,
    boolean suspect,
    boolean isVersionRead,
    @Nullable StoredMessage message,
    @Nullable Long winner) {
  /** Why it is over, when a newer message of its key has taken its place. */
  public String reason() {
    return winner == null ? "" : SupersededSql.reason(winner);
  }
}
