package io.sqlstreams.cli.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Consumption;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.cli.CliException;
import io.sqlstreams.config.ConsumeOptions;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * One worker process of the demo. It consumes until its stdin ends, which is when its parent closes
 * it or is gone, however that came about.
 */
@Command(
    name = "demo-worker",
    hidden = true,
    description = "A worker process of the demo.",
    mixinStandardHelpOptions = true)
public final class DemoWorkerCommand implements Callable<Integer> {
  private static final Duration REPORT_INTERVAL = Duration.ofMillis(100);

  /** How long a worker may take to stop; the database may be gone by then. */
  private static final Duration STOP_LIMIT = Duration.ofSeconds(8);

  /** How many messages a worker handles at the same time. */
  static final int HANDLERS = 4;

  /** The engine's statements, its heartbeat, and the completions that run at the same time. */
  private static final int POOL_SIZE = 4;

  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Option(names = "--url", required = true)
  private String url = "";

  @Option(names = "--stream", required = true)
  private String stream = "";

  @Option(names = "--group", required = true)
  private String group = "";

  @Option(names = "--ledger", required = true)
  private Path ledger = Path.of("");

  @Option(names = "--lease", required = true)
  private Duration lease = ConsumeOptions.DEFAULT_LEASE;

  @Override
  public Integer call() throws IOException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(POOL_SIZE);
    ConsumeOptions options =
        ConsumeOptions.defaults().withHandlers(HANDLERS).withLease(lease, lease.dividedBy(3));
    ScheduledExecutorService reports = Executors.newSingleThreadScheduledExecutor();
    try (HikariDataSource pool = new HikariDataSource(config);
        SqlStreams client = SqlStreams.builder(pool).build();
        Ledger handled = Ledger.create(ledger)) {
      DemoHandler handler = new DemoHandler(handled);
      Consumption consumption = client.stream(stream).group(group).consume(handler, options);
      Runnable report = () -> report(WorkerReport.of(consumption.counters(), handler.running()));
      ScheduledFuture<?> reporting =
          reports.scheduleAtFixedRate(report, 0, REPORT_INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
      awaitEndOfInput();
      haltUnlessStopped();
      consumption.stop();
      reporting.cancel(false);
      report.run();
    } finally {
      reports.shutdownNow();
    }
    return 0;
  }

  private synchronized void report(WorkerReport report) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(report.line());
    out.flush();
  }

  private static void awaitEndOfInput() {
    try {
      while (System.in.read() >= 0) {
        // nothing is said on this channel; only its end counts
      }
    } catch (IOException e) {
      throw new CliException("the parent's channel broke", e);
    }
  }

  private static void haltUnlessStopped() {
    Thread watchdog =
        new Thread(
            () -> {
              try {
                Thread.sleep(STOP_LIMIT.toMillis());
              } catch (InterruptedException e) {
                return;
              }
              Runtime.getRuntime().halt(1);
            },
            "demo-watchdog");
    watchdog.setDaemon(true);
    watchdog.start();
  }
}
