package io.sqlstreams.bench.scenario;

import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** How long something took, by what went on beside it. Thread-safe. */
final class Latencies {
  private static final int DIGITS = 3;
  private static final double P50 = 50;
  private static final double P99 = 99;

  private final Map<Phase, Histogram> byPhase = new EnumMap<>(Phase.class);

  Latencies() {
    for (Phase phase : Phase.values()) {
      byPhase.put(phase, new ConcurrentHistogram(DIGITS));
    }
  }

  void record(Phase phase, long nanos) {
    Histogram histogram = byPhase.get(phase);
    if (histogram != null) {
      histogram.recordValue(TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos)));
    }
  }

  /** All of them together. */
  Histogram all() {
    Histogram all = new Histogram(DIGITS);
    byPhase.values().forEach(all::add);
    return all;
  }

  /** Puts p50, p99 and the longest of each phase into the notes, in microseconds. */
  void tell(String what, Map<String, Long> notes) {
    byPhase.forEach(
        (phase, histogram) -> {
          if (histogram.getTotalCount() > 0) {
            String name =
                what
                    + phase.label().substring(0, 1).toUpperCase(Locale.ROOT)
                    + phase.label().substring(1);
            notes.put(name + "P50Us", histogram.getValueAtPercentile(P50));
            notes.put(name + "P99Us", histogram.getValueAtPercentile(P99));
            notes.put(name + "MaxUs", histogram.getMaxValue());
          }
        });
  }
}
