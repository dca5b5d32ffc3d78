package io.sqlstreams.bench.idle;

import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.bench.meter.Meters;
import io.sqlstreams.bench.meter.StatementUse;
import io.sqlstreams.bench.meter.Usage;
import io.sqlstreams.bench.server.Server;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.StreamConfig;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** What idle streams cost, and how soon a message on one of them is handled. */
@Command(
    name = "idle",
    mixinStandardHelpOptions = true,
    description =
        "Registers streams with a group each, has processes consume all of them, and measures while nothing is"
            + " produced; then produces single messages to some of them.")
public final class IdleCommand implements Callable<Integer> {
  private static final String SCHEMA = "bench_idle";
  private static final long LONGEST_START_SECONDS = 600;
  private static final long LONGEST_HANDLING_SECONDS = 30;
  private static final double MICROS_PER_MILLI = 1e3;
  private static final double NANOS_PER_SECOND = 1e9;

  @Spec
  @SuppressWarnings("NullAway.Init") // set by picocli
  CommandSpec spec;

  @Option(names = "--streams", defaultValue = "1600", description = "Default: ${DEFAULT-VALUE}.")
  int streams;

  @Option(
      names = "--processes",
      defaultValue = "1",
      description = "JVMs that consume every stream. Default: ${DEFAULT-VALUE}.")
  int processes;

  @Option(
      names = "--seconds",
      defaultValue = "30",
      description = "How long nothing is produced. Default: ${DEFAULT-VALUE}.")
  int seconds;

  @Option(
      names = "--messages",
      defaultValue = "50",
      description =
          "Of how many streams each gets three messages afterwards, one at a time. Default: ${DEFAULT-VALUE}.")
  int messages;

  @Override
  public Integer call() throws Exception {
    PrintWriter out = spec.commandLine().getOut();
    try (Server server = Server.start();
        SqlStreams client =
            SqlStreams.builder(server.pool()).schema(SCHEMA).allowDestroy(true).build()) {
      client.system().register();
      tell(out, "registered in %.1f s", secondsOf(() -> register(client)));
      BlockingQueue<Child.Told> told = new LinkedBlockingQueue<>();
      List<Child> children = new ArrayList<>();
      try {
        tell(out, "consuming after %.1f s", secondsOf(() -> start(server, children, told)));
        measure(out, server);
        produce(out, client, told);
      } finally {
        for (Child child : children) {
          child.close();
        }
      }
      tell(
          out,
          "one group destroyed in %.2f s",
          secondsOf(() -> client.stream(name(0)).group(IdleProcess.GROUP).destroy()));
    }
    return 0;
  }

  private interface Step {
    void run() throws Exception;
  }

  private static double secondsOf(Step step) throws Exception {
    long begin = System.nanoTime();
    step.run();
    return (System.nanoTime() - begin) / NANOS_PER_SECOND;
  }

  private void tell(PrintWriter out, String format, Object... figures) {
    out.printf(
        Locale.ROOT,
        "%d streams, %d processes: " + format + "%n",
        concat(List.of(streams, processes), figures));
    out.flush();
  }

  private static Object[] concat(List<Object> first, Object[] rest) {
    List<Object> all = new ArrayList<>(first);
    all.addAll(List.of(rest));
    return all.toArray();
  }

  private static String name(int number) {
    return "idle-" + number;
  }

  private void register(SqlStreams client) {
    for (int number = 0; number < streams; number++) {
      client.stream(name(number)).register(StreamConfig.defaults());
      client.stream(name(number)).group(IdleProcess.GROUP).register();
    }
  }

  private void start(Server server, List<Child> children, BlockingQueue<Child.Told> told)
      throws Exception {
    for (int i = 0; i < processes; i++) {
      children.add(Child.start(server.pool().getJdbcUrl(), SCHEMA, told));
    }
    for (int i = 0; i < processes; i++) {
      Child.await(told, IdleProcess.READY, LONGEST_START_SECONDS);
    }
  }

  private void measure(PrintWriter out, Server server) throws Exception {
    // what the start has left behind
    TimeUnit.SECONDS.sleep(10);
    Meters meters = new Meters(server.pool());
    Usage usage =
        meters
            .measure(
                () -> {
                  TimeUnit.SECONDS.sleep(seconds);
                  return seconds;
                })
            .usage();
    Long calls = usage.statementCalls();
    Double processor = usage.serverCpuSeconds();
    tell(
        out,
        "%.1f statements/s, %.3f cores of PostgreSQL, %.0f bytes of WAL/s",
        calls == null ? Double.NaN : (double) calls / seconds,
        processor == null ? Double.NaN : processor / seconds,
        (double) usage.walBytes() / seconds);
    Map<String, StatementUse> statements = usage.statements();
    if (statements != null) {
      statements.entrySet().stream()
          .sorted(Comparator.comparingLong(entry -> -entry.getValue().calls()))
          .limit(8)
          .forEach(
              entry ->
                  out.printf(
                      Locale.ROOT,
                      "  %-40s %8.2f/s %10.3f ms each%n",
                      entry.getKey(),
                      (double) entry.getValue().calls() / seconds,
                      entry.getValue().milliseconds() / entry.getValue().calls()));
      out.flush();
    }
  }

  private void produce(PrintWriter out, SqlStreams client, BlockingQueue<Child.Told> told)
      throws Exception {
    for (String which : List.of("first message", "second message", "third message")) {
      Histogram micros = new Histogram(3);
      for (int i = 0; i < messages; i++) {
        Producer<RawPayload> producer = client.stream(name(i % streams)).producer();
        long begin = System.nanoTime();
        producer.produce(RawPayload.of("{}"));
        long took = Child.await(told, IdleProcess.HANDLED, LONGEST_HANDLING_SECONDS).at() - begin;
        micros.recordValue(TimeUnit.NANOSECONDS.toMicros(took));
        TimeUnit.MILLISECONDS.sleep(20);
      }
      tell(
          out,
          "%s of a stream: produce to handler p50 %.1f ms, p99 %.1f ms, max %.1f ms",
          which,
          micros.getValueAtPercentile(50) / MICROS_PER_MILLI,
          micros.getValueAtPercentile(99) / MICROS_PER_MILLI,
          micros.getMaxValue() / MICROS_PER_MILLI);
    }
  }
}
