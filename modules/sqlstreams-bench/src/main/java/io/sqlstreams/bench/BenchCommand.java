package io.sqlstreams.bench;

import io.sqlstreams.bench.load.PayloadForm;
import io.sqlstreams.bench.load.Payloads;
import io.sqlstreams.bench.load.RoundSize;
import io.sqlstreams.bench.report.RunReport;
import io.sqlstreams.bench.report.TextReport;
import io.sqlstreams.bench.scenario.Scenario;
import io.sqlstreams.bench.scenario.Scenarios;
import io.sqlstreams.bench.server.Server;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.PayloadType;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** The command line. */
@Command(
    name = "sqlstreams-bench",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    description = "Measures SQLStreams against the raw limit of the server under it.",
    footer = {
      "",
      "Scenarios:",
      "  raw-limit          binary COPY by one connection, range reads by another, nothing else",
      "  produce            produceAll of 2,000 from 2 threads, by COPY",
      "  produce-small      produceAll of 100 from 2 threads, by INSERT",
      "  produce-single     single produces from 64 threads",
      "  idempotent         produce, each message with an idempotency key of its own",
      "  idempotent-small   produce-small with such keys",
      "  idempotent-single  produce-single with such keys",
      "  paired             produceAll of 2,000 and one consumer group at the same time",
      "  failing            paired, one message of 20 fails once",
      "  logged             paired, each success leaves a row in the delivery log",
      "  transactional      paired, each handler inserts a row in the transaction of its result",
      "  keyed              paired, each message with one of 100,000 keys",
      "  ordered-N          keyed, in order within N keys: 10, 1000, 100000; -by-2 in two sessions",
      "  exclusive-N        keyed, one at a time within N keys: 10, 1000, 100000",
      "  produce-keyed      produce with 100,000 message keys; -compacted, -hot-key (one) beside it",
      "  drain              a group that reads all of a log that is there already",
      "  selective          drain, with a binding to one message of 1,000",
      "  all                each of these",
      "  idle               by itself: what idle streams cost; sqlstreams-bench idle --help",
      "  retention          with --seconds, by itself: partitions come and go under load; the notes of --json tell",
      "Several scenarios take turns, round by round, on one server."
    })
final class BenchCommand implements Callable<Integer> {
  private static final int MOST_STATEMENTS = 12;

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  CommandSpec spec;

  @Parameters(arity = "0..*", paramLabel = "SCENARIO", description = "What to measure; see below.")
  List<String> scenarios = List.of();

  @Option(
      names = "--messages",
      paramLabel = "N",
      description = "Messages of a round. Default: what takes a few seconds.")
  @Nullable Long messages;

  @Option(
      names = "--seconds",
      paramLabel = "S",
      description = "How long a round produces, instead of --messages.")
  @Nullable Long seconds;

  @Option(
      names = "--rounds",
      defaultValue = "3",
      description = "Rounds after the warm-up. Default: ${DEFAULT-VALUE}.")
  int rounds;

  @Option(
      names = "--payload-bytes",
      defaultValue = "1000",
      description = "Size of each payload as JSON. Default: ${DEFAULT-VALUE}.")
  int payloadBytes;

  @Option(
      names = "--payload-type",
      defaultValue = "json",
      description = "Column type: json, jsonb or bytea. Default: ${DEFAULT-VALUE}.")
  PayloadType payloadType = PayloadType.JSON;

  @Option(
      names = "--payload",
      split = ",",
      defaultValue = "typed",
      description =
          "typed (through Jackson), raw (ready bytes) or typed,raw. Default: ${DEFAULT-VALUE}.")
  List<PayloadForm> forms = List.of(PayloadForm.TYPED);

  @Option(
      names = "--handlers",
      defaultValue = "" + ConsumeOptions.DEFAULT_HANDLERS,
      description = "Messages handled at the same time. Default: ${DEFAULT-VALUE}.")
  int handlers;

  @Option(
      names = "--max-claim",
      defaultValue = "" + ConsumeOptions.DEFAULT_MAX_CLAIM,
      description =
          "Messages of one claim; two claims may wait in memory. Default: ${DEFAULT-VALUE}.")
  int maxClaim;

  @Option(
      names = "--url",
      description =
          "JDBC URL of a server to measure, with user and password. Default: a server of its own.")
  @Nullable String url;

  @Option(names = "--json", paramLabel = "FILE", description = "Where to write all figures.")
  @Nullable Path json;

  @Option(
      names = "--statements",
      description = "Tells which statements took the most time, of all counted rounds.")
  boolean statements;

  @Option(names = "--stacktrace", description = "Tells where an error came from.")
  boolean stacktrace;

  @Override
  public Integer call() throws Exception {
    RunOptions options = options();
    PrintWriter out = spec.commandLine().getOut();
    RunReport report;
    try (Server server = url == null ? Server.start() : Server.at(url)) {
      report = new Runner(server, options, out).run();
    }
    out.println();
    out.print(TextReport.figures(report.scenarios()));
    if (statements) {
      report
          .scenarios()
          .forEach(
              scenario -> {
                out.println();
                out.print(TextReport.statements(scenario, MOST_STATEMENTS));
              });
    }
    out.flush();
    if (json != null) {
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .build()
          .writeValue(json.toFile(), report);
    }
    return 0;
  }

  private RunOptions options() {
    require(!scenarios.isEmpty(), "name a scenario: one of " + Scenarios.names());
    for (String scenario : scenarios) {
      require(
          Scenarios.names().contains(scenario),
          "there is no scenario \"" + scenario + "\": choose of " + Scenarios.names());
    }
    require(messages == null || seconds == null, "--messages and --seconds exclude each other");
    require(messages == null || messages >= 1, "--messages must be 1 or above");
    require(
        seconds == null || (seconds >= 1 && seconds <= Duration.ofHours(1).toSeconds()),
        "--seconds must be from 1 to 3600");
    require(rounds >= 1, "--rounds must be 1 or above");
    require(
        payloadBytes >= Payloads.MIN_BYTES && payloadBytes <= Payloads.MAX_BYTES,
        "--payload-bytes must be from " + Payloads.MIN_BYTES + " to " + Payloads.MAX_BYTES);
    require(
        handlers >= 1 && handlers <= ConsumeOptions.MAX_HANDLERS,
        "--handlers must be from 1 to " + ConsumeOptions.MAX_HANDLERS);
    require(
        maxClaim >= 1 && maxClaim <= ConsumeOptions.MAX_CLAIM,
        "--max-claim must be from 1 to " + ConsumeOptions.MAX_CLAIM);
    List<Scenario> chosen = Scenarios.named(scenarios, forms);
    return new RunOptions(chosen, size(), rounds, payloadBytes, payloadType, forms, consuming());
  }

  private RoundSize size() {
    if (messages != null) {
      return RoundSize.of(messages);
    }
    return seconds == null ? RoundSize.ofScenario() : RoundSize.of(Duration.ofSeconds(seconds));
  }

  private ConsumeOptions consuming() {
    return ConsumeOptions.defaults()
        .withHandlers(handlers)
        .withMaxClaim(maxClaim)
        .withPrefetch(2 * maxClaim, ConsumeOptions.DEFAULT_PREFETCH_BYTES);
  }

  private void require(boolean condition, String otherwise) {
    if (!condition) {
      throw new ParameterException(spec.commandLine(), otherwise);
    }
  }
}
