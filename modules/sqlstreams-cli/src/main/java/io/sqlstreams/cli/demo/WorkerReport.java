package io.sqlstreams.cli.demo;

import io.sqlstreams.ConsumptionCounters;
import org.jspecify.annotations.Nullable;

/**
 * What a worker process tells its parent, as a line on its stdout.
 *
 * @param done deliveries that ended as done
 * @param retried deliveries that failed and will be tried again
 * @param dead messages given up
 * @param reclaimed ranges and single messages taken over after their lease ended
 * @param running handlers that run at this moment
 */
record WorkerReport(long done, long retried, long dead, long reclaimed, long running) {
  static final WorkerReport NONE = new WorkerReport(0, 0, 0, 0, 0);

  private static final String PREFIX = "report";

  static WorkerReport of(ConsumptionCounters counters, long running) {
    return new WorkerReport(
        counters.done(), counters.retried(), counters.dead(), counters.reclaimed(), running);
  }

  String line() {
    return PREFIX + " " + done + " " + retried + " " + dead + " " + reclaimed + " " + running;
  }

  /** The report in this line; null when it is something else. */
  static @Nullable WorkerReport parse(String line) {
    String[] words = line.split(" ", -1);
    if (words.length != 6 || !words[0].equals(PREFIX)) {
      return null;
    }
    long[] values = new long[5];
    for (int i = 0; i < values.length; i++) {
      values[i] = Long.parseLong(words[i + 1]);
    }
    return new WorkerReport(values[0], values[1], values[2], values[3], values[4]);
  }
}
