package io.sqlstreams.bench.report;

import io.sqlstreams.bench.meter.StatementUse;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** A run as text for people. */
public final class TextReport {
  private static final String UNKNOWN = "n/a";

  private TextReport() {}

  /** What the figures depend on. */
  public static String settings(
      Map<String, String> machine, Map<String, String> server, Map<String, String> options) {
    return "machine: %s%nserver:  %s%noptions: %s%n"
        .formatted(joined(machine), joined(server), joined(options));
  }

  /** The figures of all scenarios, medians with the range of the rates. */
  public static String figures(List<ScenarioReport> scenarios) {
    Table table =
        new Table()
            .row(
                "scenario",
                "payload",
                "messages/s",
                "(min - max)",
                "of raw limit",
                "(min - max)",
                "WAL B/msg",
                "WAL/payload",
                "stmts/msg",
                "server CPU s",
                "JVM CPU s",
                "other CPU s",
                "CPU us/msg",
                "call p50 ms",
                "p99 ms");
    for (ScenarioReport scenario : scenarios) {
      Spread ratio = scenario.ratioToRawLimit();
      table.row(
          scenario.scenario(),
          scenario.payload(),
          format("%,.0f", scenario.messagesPerSecond()),
          range("%,.0f", scenario.messagesPerSecond()),
          format("%.2f", ratio),
          range("%.2f", ratio),
          format("%,.0f", scenario.walBytesPerMessage()),
          format("%.2f", scenario.walToPayload()),
          format("%.4f", scenario.statementsPerMessage()),
          format("%.2f", scenario.serverCpuSeconds()),
          format("%.2f", scenario.jvmCpuSeconds()),
          format("%.2f", scenario.otherCpuSeconds()),
          format("%.1f", scenario.cpuMicrosPerMessage()),
          format("%.2f", latency(scenario, true)),
          format("%.2f", latency(scenario, false)));
    }
    return table.text();
  }

  /** The statements that took the most time of the server, all rounds together. */
  public static String statements(ScenarioReport scenario, int most) {
    Map<String, StatementUse> sums = new TreeMap<>();
    for (RoundReport round : scenario.rounds()) {
      if (round.statements() != null) {
        round.statements().forEach((name, use) -> sums.merge(name, use, StatementUse::plus));
      }
    }
    Table table = new Table().row("statement", "calls", "total ms", "mean ms");
    sums.entrySet().stream()
        .sorted(Comparator.comparingDouble(entry -> -entry.getValue().milliseconds()))
        .limit(most)
        .forEach(
            entry -> {
              StatementUse use = entry.getValue();
              table.row(
                  entry.getKey(),
                  format("%,d", use.calls()),
                  format("%,.0f", use.milliseconds()),
                  format("%,.3f", use.milliseconds() / use.calls()));
            });
    return scenario.scenario() + " " + scenario.payload() + "\n" + table.text();
  }

  private static Spread latency(ScenarioReport scenario, boolean median) {
    return Spread.of(
        scenario.rounds().stream()
            .map(RoundReport::callMillis)
            .map(call -> median ? call.p50() : call.p99())
            .toList());
  }

  private static String joined(Map<String, String> settings) {
    return String.join(
        ", ",
        settings.entrySet().stream()
            .map(setting -> setting.getKey() + " = " + setting.getValue())
            .toList());
  }

  private static String range(String format, @Nullable Spread spread) {
    return spread == null
        ? ""
        : "(" + format(format, spread.min()) + " - " + format(format, spread.max()) + ")";
  }

  private static String format(String format, @Nullable Spread spread) {
    return spread == null ? UNKNOWN : format(format, spread.median());
  }

  private static String format(String format, Object value) {
    return String.format(Locale.ROOT, format, value);
  }
}
