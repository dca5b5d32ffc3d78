package io.sqlstreams.cli.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;

/** The course of the demo. */
final class Demo {
  /**
   * @param messages how many to produce
   * @param producers how many threads produce
   * @param lease the lease of the workers
   * @param keep whether the database stays up at the end
   */
  record Settings(int messages, int producers, Duration lease, boolean keep) {}

  static final String STREAM = "github.webhooks";
  private static final List<String> GROUPS = List.of("audit", "search-index");
  private static final int WORKERS_PER_GROUP = 2;
  private static final Duration RETRY_AFTER = Duration.ofMillis(500);
  private static final int POOL_SIZE = 5;

  private final Settings settings;
  private final Screen screen;
  private final PrintWriter out;
  private final long begin = System.nanoTime();

  Demo(Settings settings, Screen screen, PrintWriter out) {
    this.settings = settings;
    this.screen = screen;
    this.out = out;
  }

  /** Returns the exit code. */
  int run(Cleanup cleanup) throws Exception {
    Path folder = cleanup.own(Folder::create).path();
    event("starting PostgreSQL");
    DemoServer server = cleanup.own(() -> DemoServer.start(folder));
    event("PostgreSQL is up, fsync and synchronous_commit on: " + server.jdbcUrl());
    HikariDataSource pool = cleanup.own(() -> pool(server.jdbcUrl()));
    SqlStreams client = cleanup.own(() -> SqlStreams.builder(pool).build());
    StreamHandle<RawPayload> stream = client.stream(STREAM);
    StreamInfo registered = stream.register();
    RetryPolicy retry = RetryPolicy.defaults().withInitialBackoff(RETRY_AFTER);
    GROUPS.forEach(group -> stream.group(group).register(GroupConfig.defaults().withRetry(retry)));
    announce();

    Killing killing = new Killing();
    List<WorkerGroup> groups = new ArrayList<>();
    for (String group : GROUPS) {
      BiConsumer<Worker, WorkerReport> listener =
          groups.isEmpty() ? killing::onReport : (worker, report) -> {};
      groups.add(cleanup.own(() -> startWorkers(group, server.jdbcUrl(), folder, listener)));
    }
    for (WorkerGroup group : groups) {
      group.awaitReady();
    }
    event("the workers are ready; " + settings.producers() + " threads begin to produce");
    Load load =
        cleanup.own(
            () ->
                Load.start(
                    stream.producer(), Delivery.all(), settings.messages(), settings.producers()));
    new Watch(load, groups, killing, settings, screen, this::elapsed).untilDone();
    boolean killed = killing.victim().isPresent();
    return conclude(load, groups, killed, server, registered.id()) ? 0 : 1;
  }

  private boolean conclude(
      Load load, List<WorkerGroup> groups, boolean killed, DemoServer server, long stream)
      throws IOException, InterruptedException {
    groups.forEach(WorkerGroup::close);
    event("the workers have stopped");
    List<Comparison> comparisons = new ArrayList<>();
    for (WorkerGroup group : groups) {
      group.readLastOfLedgers();
      comparisons.add(Comparison.of(group.name(), load.ids(), group.handled()));
    }
    Report report = new Report(out);
    report.verdict(comparisons, killed);
    report.inside(settings.keep(), server, SqlStreams.DEFAULT_SCHEMA, stream);
    if (settings.keep()) {
      Cleanup.awaitInterrupt();
    }
    return comparisons.stream().allMatch(Comparison::complete);
  }

  private void announce() {
    event(
        "registered stream "
            + STREAM
            + " with the groups "
            + String.join(" and ", GROUPS)
            + ", "
            + WORKERS_PER_GROUP
            + " worker processes each");
    event(
        "a worker's lease is "
            + settings.lease().toMillis() / 1000.0
            + " s here instead of 15 s, so that the take-over is soon to be seen");
    event(
        "1 message of "
            + DemoHandler.FAILS_ONE_OF
            + " fails at its first attempt and is tried again after "
            + RETRY_AFTER.toMillis()
            + " ms");
  }

  private WorkerGroup startWorkers(
      String name, String url, Path folder, BiConsumer<Worker, WorkerReport> listener)
      throws IOException {
    WorkerGroup group = new WorkerGroup(name);
    for (int i = 1; i <= WORKERS_PER_GROUP; i++) {
      group.add(
          Worker.start(name + "-" + i, name, STREAM, url, settings.lease(), folder, listener));
    }
    return group;
  }

  private static HikariDataSource pool(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(POOL_SIZE);
    return new HikariDataSource(config);
  }

  private Duration elapsed() {
    return Duration.ofNanos(System.nanoTime() - begin);
  }

  private void event(String text) {
    screen.event(elapsed(), text);
  }
}
