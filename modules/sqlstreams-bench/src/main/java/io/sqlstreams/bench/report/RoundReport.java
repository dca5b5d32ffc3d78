package io.sqlstreams.bench.report;

import io.sqlstreams.bench.meter.StatementUse;
import io.sqlstreams.bench.meter.Usage;
import io.sqlstreams.bench.scenario.Work;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one round. Null is what isn't known on this machine.
 *
 * @param messages how many messages were produced
 * @param seconds how long it took
 * @param messagesPerSecond the rate
 * @param walBytesPerMessage bytes of write-ahead log
 * @param walToPayload the same in relation to the payload's bytes
 * @param statementsPerMessage statements of all kinds, those of transactions included
 * @param serverCpuSeconds processor time of the server's processes
 * @param jvmCpuSeconds processor time of this process
 * @param otherCpuSeconds processor time of whatever else ran on the machine
 * @param cpuMicrosPerMessage processor time of server and this process together: unlike the rate it
 *     hardly changes when the machine is busy with something else
 * @param callMillis how long a produce call took
 * @param notes what else the scenario tells, by name
 * @param statements what the server ran, by name
 */
public record RoundReport(
    long messages,
    double seconds,
    double messagesPerSecond,
    double walBytesPerMessage,
    double walToPayload,
    @Nullable Double statementsPerMessage,
    @Nullable Double serverCpuSeconds,
    double jvmCpuSeconds,
    @Nullable Double otherCpuSeconds,
    @Nullable Double cpuMicrosPerMessage,
    Latency callMillis,
    Map<String, Long> notes,
    @Nullable Map<String, StatementUse> statements) {

  private static final double NANOS_PER_SECOND = 1e9;
  private static final double MICROS_PER_SECOND = 1e6;

  /** The figures of this work with payloads of this size. */
  public static RoundReport of(Work work, Usage usage, int payloadBytes) {
    double messages = work.messages();
    double seconds = work.elapsed().toNanos() / NANOS_PER_SECOND;
    Long statements = usage.statementCalls();
    Double server = usage.serverCpuSeconds();
    return new RoundReport(
        work.messages(),
        seconds,
        messages / seconds,
        usage.walBytes() / messages,
        usage.walBytes() / messages / payloadBytes,
        statements == null ? null : statements / messages,
        server,
        usage.jvmCpuSeconds(),
        usage.otherCpuSeconds(),
        server == null ? null : (server + usage.jvmCpuSeconds()) * MICROS_PER_SECOND / messages,
        Latency.of(work.callMicros()),
        new TreeMap<>(work.notes()),
        usage.statements());
  }

  /**
   * How long calls took, in milliseconds.
   *
   * @param p50 half of them at most this
   * @param p99 99 of 100 at most this
   * @param max the longest
   */
  public record Latency(double p50, double p99, double max) {
    private static final double MICROS_PER_MILLI = 1e3;

    static Latency of(Histogram micros) {
      return new Latency(
          micros.getValueAtPercentile(50) / MICROS_PER_MILLI,
          micros.getValueAtPercentile(99) / MICROS_PER_MILLI,
          micros.getMaxValue() / MICROS_PER_MILLI);
    }
  }
}
