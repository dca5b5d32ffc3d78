package io.sqlstreams.internal.outcome;

import io.sqlstreams.config.Concurrency;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Finds, among messages that end together, in the order of the ids, those put aside that are the
 * first of their key. What such a one waits for may be over by now, and have announced its turn to
 * nobody: it goes back as ready, and a claim finds out. The others of the key wait for it. Not
 * thread-safe.
 */
public final class FirstOfKeys {
  private final Set<String> held = new HashSet<>();

  /** What is recorded of a message that has ended with this verdict. */
  public Verdict recorded(@Nullable String key, Concurrency concurrency, Verdict verdict) {
    boolean waits = verdict.status() == Verdict.Status.DEFERRED;
    boolean holds = !verdict.isResolved() && (waits || concurrency == Concurrency.ORDERED);
    boolean isFirst = holds && held.add(String.valueOf(key));
    return waits && isFirst ? verdict.asking() : verdict;
  }
}
