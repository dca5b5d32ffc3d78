package io.sqlstreams.bench;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.bench.load.Payloads;
import io.sqlstreams.bench.load.Quota;
import io.sqlstreams.bench.meter.Meters;
import io.sqlstreams.bench.report.RoundReport;
import io.sqlstreams.bench.report.RunReport;
import io.sqlstreams.bench.report.ScenarioReport;
import io.sqlstreams.bench.report.TextReport;
import io.sqlstreams.bench.scenario.Scenario;
import io.sqlstreams.bench.scenario.Scenarios;
import io.sqlstreams.bench.scenario.Trial;
import io.sqlstreams.bench.scenario.Work;
import io.sqlstreams.bench.scenario.Workbench;
import io.sqlstreams.bench.server.Server;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Goes through the rounds. The scenarios take turns, so that what changes on the machine in the
 * meantime changes for all of them. Each scenario has one round first that doesn't count.
 */
final class Runner {
  private static final String INSUFFICIENT_PRIVILEGE = "42501";

  private final Server server;
  private final RunOptions options;
  private final PrintWriter progress;
  private boolean checkpoints = true;

  /**
   * @param progress gets the settings at once and a line for each round
   */
  Runner(Server server, RunOptions options, PrintWriter progress) {
    this.server = server;
    this.options = options;
    this.progress = progress;
  }

  /**
   * Runs all rounds, in a schema that is dropped at the end.
   *
   * @throws BenchException when the result of a round is wrong
   */
  RunReport run() throws Exception {
    Instant startedAt = Instant.now().truncatedTo(ChronoUnit.SECONDS);
    Map<String, String> machine = machine();
    Map<String, String> settings = server.settings();
    progress.print(TextReport.settings(machine, settings, options.told()));
    progress.flush();
    try (Schema schema = new Schema(server);
        SqlStreams client =
            SqlStreams.builder(server.pool()).schema(schema.name).allowDestroy(true).build()) {
      Workbench bench =
          new Workbench(
              server.pool(),
              schema.name,
              client,
              Payloads.of(options.payloadBytes()),
              options.payloadType(),
              options.consuming(),
              new AtomicLong());
      client.system().register();
      return new RunReport(startedAt.toString(), machine, settings, options.told(), rounds(bench));
    }
  }

  private List<ScenarioReport> rounds(Workbench bench) throws Exception {
    Meters meters = new Meters(server.pool());
    Map<Scenario, List<RoundReport>> rounds = new LinkedHashMap<>();
    options.scenarios().forEach(scenario -> rounds.put(scenario, new ArrayList<>()));
    for (int number = 0; number <= options.rounds(); number++) {
      for (Scenario scenario : options.scenarios()) {
        RoundReport round = round(bench, scenario, meters);
        String name = number == 0 ? "warm-up" : "round " + number;
        progress.printf(
            Locale.ROOT,
            "%-8s %-20s %,10.0f/s%n",
            name,
            scenario.label(),
            round.messagesPerSecond());
        progress.flush();
        if (number > 0) {
          rounds.getOrDefault(scenario, new ArrayList<>()).add(round);
        }
      }
    }
    List<RoundReport> rawLimit =
        rounds.entrySet().stream()
            .filter(entry -> entry.getKey().name().equals(Scenarios.BASE))
            .map(Map.Entry::getValue)
            .findFirst()
            .orElse(null);
    List<ScenarioReport> reports = new ArrayList<>();
    rounds.forEach((scenario, each) -> reports.add(ScenarioReport.of(scenario, each, rawLimit)));
    return reports;
  }

  private RoundReport round(Workbench bench, Scenario scenario, Meters meters) throws Exception {
    Quota quota = options.size().quota(scenario.messages());
    try (Trial trial = scenario.prepare(bench, quota)) {
      checkpoint();
      Meters.Measured<Work> measured = meters.measure(trial::run);
      trial.verify();
      return RoundReport.of(measured.result(), measured.usage(), options.payloadBytes());
    } catch (BenchException e) {
      throw new BenchException(scenario.label() + ": " + e.getMessage(), e);
    }
  }

  /** So that no round pays for the pages that the one before it has changed. */
  private void checkpoint() throws SQLException {
    if (!checkpoints) {
      return;
    }
    try {
      server.execute("CHECKPOINT");
    } catch (SQLException e) {
      if (!INSUFFICIENT_PRIVILEGE.equals(e.getSQLState())) {
        throw e;
      }
      checkpoints = false;
      progress.println("no CHECKPOINT between the rounds: this role may not");
    }
  }

  private static Map<String, String> machine() {
    Map<String, String> machine = new LinkedHashMap<>();
    machine.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
    machine.put("heap_mib", Long.toString(Runtime.getRuntime().maxMemory() >> 20));
    machine.put("java", Runtime.version().toString());
    machine.put("os", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    machine.put(
        "load_average",
        String.format(
            Locale.ROOT,
            "%.2f",
            ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()));
    return machine;
  }

  /** The schema of one run, with a name of its own; dropped when closed, whatever is in it. */
  private record Schema(Server server, String name) implements AutoCloseable {
    Schema(Server server) {
      this(server, "bench_" + UUID.randomUUID().toString().substring(0, 8));
    }

    @Override
    public void close() throws SQLException {
      server.execute("DROP SCHEMA IF EXISTS " + name + " CASCADE");
    }
  }
}
