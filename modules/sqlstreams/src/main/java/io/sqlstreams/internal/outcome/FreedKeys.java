package io.sqlstreams.internal.outcome;

import io.sqlstreams.config.Concurrency;
import java.util.LinkedHashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Collects the keys whose next message may come, from what has ended, in the order of the ids. Not
 * thread-safe.
 */
public final class FreedKeys {
  private final Set<String> keys = new LinkedHashSet<>();

  /** A message has ended in this way. */
  public void add(@Nullable String key, Concurrency concurrency, Verdict verdict) {
    if (key == null) {
      return;
    }
    // what is tried again holds its place in an order, but it doesn't run meanwhile
    if (verdict.isResolved() || concurrency == Concurrency.EXCLUSIVE) {
      keys.add(key);
    } else {
      keys.remove(key);
    }
  }

  /** The keys so far. */
  public Set<String> keys() {
    return keys;
  }
}
