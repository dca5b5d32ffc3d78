package io.sqlstreams.internal.claim;

import io.sqlstreams.config.Concurrency;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message of the exception queue whose session is gone.
 *
 * @param token the session's proof of holding it
 * @param messageId its id
 * @param key its message key
 * @param attempts which attempt was lost
 * @param delays how many attempts asked for a delay, since the last redrive
 * @param forgiven how many attempts were before the last redrive
 * @param suspect whether the process of an earlier attempt was gone, too
 * @param concurrency how it is handed out among those of its key
 * @param isFollower whether it can't have begun, since an earlier one of its key hasn't ended
 * @param options what the message asks of the groups, as the log keeps it
 */
public record ExpiredAttempt(
    UUID token,
    long messageId,
    @Nullable String key,
    int attempts,
    int delays,
    int forgiven,
    boolean suspect,
    Concurrency concurrency,
    boolean isFollower,
    @Nullable String options) {}
