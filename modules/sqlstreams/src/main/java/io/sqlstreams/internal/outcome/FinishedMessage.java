package io.sqlstreams.internal.outcome;

import io.sqlstreams.config.Concurrency;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A message with its verdict.
 *
 * @param id its id
 * @param key its message key
 * @param concurrency how it is handed out among those of its key
 * @param token the proof of holding it, or its range
 * @param verdict what becomes of it
 */
public record FinishedMessage(
    long id, @Nullable String key, Concurrency concurrency, UUID token, Verdict verdict) {
  /** The same message with another verdict. */
  FinishedMessage with(Verdict other) {
    return new FinishedMessage(id, key, concurrency, token, other);
  }
}
