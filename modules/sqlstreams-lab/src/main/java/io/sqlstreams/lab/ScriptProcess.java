package io.sqlstreams.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/**
 * A process that consumes for several groups of a stream and does what the messages say, until its
 * standard input ends or it is asked to end. Its connections bear the stream's name. It writes the
 * counters of its groups in one line when it has stopped, however it was asked to.
 */
public final class ScriptProcess {
  private static final long ABANDONED_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final ScriptSettings settings;
  private final List<Consumption> running = new ArrayList<>();
  private boolean stopped;

  private ScriptProcess(ScriptSettings settings) {
    this.settings = settings;
  }

  /** See {@link ScriptSettings} for the arguments. */
  public static void main(String[] args) throws Exception {
    new ScriptProcess(ScriptSettings.parse(args)).run();
  }

  private void run() throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(settings.url());
    pool.addDataSourceProperty("ApplicationName", settings.stream());
    pool.setMinimumIdle(1);
    pool.setMaximumPoolSize(1 + settings.groups().size() * (settings.handlers() + 2));
    ConsumeOptions options =
        ConsumeOptions.defaults()
            .withHandlers(settings.handlers())
            .withMaxClaim(settings.maxClaim())
            .withMaxBatch(settings.maxBatch())
            .withPollInterval(Duration.ofMillis(25))
            .withNotRetryable(Set.of(ScriptHandler.FatalException.class))
            .withLease(
                Duration.ofMillis(settings.leaseMillis()),
                Duration.ofMillis(settings.leaseMillis() / 4));
    try (HikariDataSource dataSource = new HikariDataSource(pool);
        SqlStreams client = SqlStreams.builder(dataSource).schema(settings.schema()).build()) {
      Runtime.getRuntime().addShutdownHook(new Thread(this::stop));
      for (int i = 0; i < settings.groups().size(); i++) {
        start(client, i, options);
      }
      while (System.in.read() >= 0) {
        // whoever started this process holds its input open
      }
      stop();
    }
  }

  private synchronized void start(SqlStreams client, int index, ConsumeOptions options) {
    if (!stopped) {
      running.add(consume(client, index, options));
    }
  }

  private Consumption consume(SqlStreams client, int index, ConsumeOptions options) {
    ScriptSettings.Group wanted = settings.groups().get(index);
    ConsumerGroup<RawPayload> group = client.stream(settings.stream()).group(wanted.name());
    ScriptHandler handler =
        new ScriptHandler(index, new Ledger(Path.of(settings.ledger(index))), settings.effects());
    return switch (wanted.mode()) {
      case SINGLE -> group.consume(handler::handle, options);
      case BATCHES -> group.consumeBatches(handler::handle, options);
      case TRANSACTIONAL -> group.consumeTransactional(handler::handle, options);
    };
  }

  /**
   * Stops in order, waits for the handlers that were abandoned, and tells the counters, of so many
   * groups as it had begun to consume for.
   */
  private synchronized void stop() {
    if (stopped) {
      return;
    }
    stopped = true;
    running.forEach(Consumption::stop);
    long end = System.nanoTime() + ABANDONED_NANOS;
    while (hasAbandoned() && System.nanoTime() < end) {
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
    }
    System.out.println(
        running.stream()
            .map(consumption -> consumption.counters().toString())
            .collect(Collectors.joining(";")));
  }

  private boolean hasAbandoned() {
    return running.stream().anyMatch(consumption -> consumption.counters().abandoned() > 0);
  }
}
