package io.sqlstreams.internal.wake;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** Who in this process waits for news of which stream. Thread-safe. */
public final class Wakeups {
  private final Map<Long, Set<Signal>> signals = new ConcurrentHashMap<>();

  /** Has the signal set whenever this process produces to the stream. */
  public void register(long stream, Signal signal) {
    signals.computeIfAbsent(stream, key -> ConcurrentHashMap.newKeySet()).add(signal);
  }

  /** Undoes {@link #register}. */
  public void deregister(long stream, Signal signal) {
    signals.computeIfPresent(
        stream,
        (key, registered) -> {
          registered.remove(signal);
          return registered.isEmpty() ? null : registered;
        });
  }

  /** Messages of this stream were committed. */
  public void wake(long stream) {
    Set<Signal> registered = signals.get(stream);
    if (registered != null) {
      registered.forEach(Signal::set);
    }
  }

  /** Messages of whatever streams were committed. */
  public void wakeAll() {
    signals.values().forEach(registered -> registered.forEach(Signal::set));
  }
}
