package io.sqlstreams.bench.report;

import io.sqlstreams.bench.scenario.Scenario;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The figures of one scenario over its rounds. Null is what isn't known on this machine or in this
 * run.
 *
 * @param scenario its name
 * @param payload how payloads were handed over
 * @param description what it does
 * @param messagesPerSecond the rate
 * @param ratioToRawLimit the rate in relation to the raw limit of the same round
 * @param walBytesPerMessage bytes of write-ahead log
 * @param walToPayload the same in relation to the payload's bytes
 * @param statementsPerMessage statements of all kinds
 * @param serverCpuSeconds processor time of the server's processes in a round
 * @param jvmCpuSeconds processor time of this process in a round
 * @param otherCpuSeconds processor time of whatever else ran on the machine in a round
 * @param cpuMicrosPerMessage processor time of server and this process together
 * @param rounds each round, in order
 */
public record ScenarioReport(
    String scenario,
    String payload,
    String description,
    Spread messagesPerSecond,
    @Nullable Spread ratioToRawLimit,
    Spread walBytesPerMessage,
    Spread walToPayload,
    @Nullable Spread statementsPerMessage,
    @Nullable Spread serverCpuSeconds,
    Spread jvmCpuSeconds,
    @Nullable Spread otherCpuSeconds,
    @Nullable Spread cpuMicrosPerMessage,
    List<RoundReport> rounds) {

  /**
   * The figures of these rounds.
   *
   * @param rawLimit the raw limit's rounds in the same order; null when it isn't part of the run
   */
  public static ScenarioReport of(
      Scenario scenario, List<RoundReport> rounds, @Nullable List<RoundReport> rawLimit) {
    return new ScenarioReport(
        scenario.name(),
        scenario.form().toString(),
        scenario.description(),
        Spread.of(rates(rounds)),
        rawLimit == null ? null : Spread.of(Spread.ratios(rates(rounds), rates(rawLimit))),
        Spread.of(rounds.stream().map(RoundReport::walBytesPerMessage).toList()),
        Spread.of(rounds.stream().map(RoundReport::walToPayload).toList()),
        known(rounds, RoundReport::statementsPerMessage),
        known(rounds, RoundReport::serverCpuSeconds),
        Spread.of(rounds.stream().map(RoundReport::jvmCpuSeconds).toList()),
        known(rounds, RoundReport::otherCpuSeconds),
        known(rounds, RoundReport::cpuMicrosPerMessage),
        rounds);
  }

  private static List<Double> rates(List<RoundReport> rounds) {
    return rounds.stream().map(RoundReport::messagesPerSecond).toList();
  }

  private static @Nullable Spread known(
      List<RoundReport> rounds, Function<RoundReport, @Nullable Double> figure) {
    return Spread.ofKnown(rounds.stream().<@Nullable Double>map(figure).toList());
  }
}
