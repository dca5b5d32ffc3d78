package io.sqlstreams.bench.scenario;

import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.Produced;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/** How long messages take from the call that produces them to the handler. Thread-safe. */
final class Journey {
  private final Handled handled;
  private final Latencies latencies;
  private final Supplier<Phase> phase;

  /** Of each message that is under way the begin of its call, or when it was handled. */
  private final ConcurrentMap<Long, Long> marks = new ConcurrentHashMap<>();

  Journey(Handled handled, Latencies latencies, Supplier<Phase> phase) {
    this.handled = handled;
    this.latencies = latencies;
    this.phase = phase;
  }

  void produced(List<Produced> receipts, long begin) {
    for (Produced receipt : receipts) {
      Long at = marks.putIfAbsent(receipt.id(), begin);
      if (at != null) {
        marks.remove(receipt.id());
        latencies.record(phase.get(), at - begin);
      }
    }
  }

  Outcome handle(Message<?> message) {
    long now = System.nanoTime();
    Long begin = marks.putIfAbsent(message.id(), now);
    if (begin != null) {
      marks.remove(message.id());
      latencies.record(phase.get(), now - begin);
    }
    return handled.handle(message);
  }
}
