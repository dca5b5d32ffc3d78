package io.sqlstreams.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Consumption;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * A process that consumes for one group until its standard input ends or it is asked to end. It
 * writes {@code ready} when it consumes, and its counters when it has stopped.
 */
public final class WorkerProcess {
  private final WorkerSettings settings;
  private final Ledger ledger;

  private WorkerProcess(WorkerSettings settings) {
    this.settings = settings;
    this.ledger = new Ledger(Path.of(settings.ledger()));
  }

  /** See {@link WorkerSettings} for the arguments. */
  public static void main(String[] args) throws Exception {
    new WorkerProcess(WorkerSettings.parse(args)).run();
  }

  private void run() throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(settings.url());
    pool.setMaximumPoolSize(4);
    ConsumeOptions options =
        ConsumeOptions.defaults()
            .withHandlers(settings.handlers())
            .withMaxClaim(settings.maxClaim())
            .withLease(
                Duration.ofMillis(settings.leaseMillis()),
                Duration.ofMillis(settings.leaseMillis() / 4));
    try (HikariDataSource dataSource = new HikariDataSource(pool);
        SqlStreams client = SqlStreams.builder(dataSource).schema(settings.schema()).build();
        Consumption running =
            client.stream(settings.stream())
                .group(settings.group())
                .consume(this::handle, options)) {
      Runtime.getRuntime().addShutdownHook(new Thread(running::stop));
      System.out.println("ready");
      while (System.in.read() >= 0) {
        // whoever started this process holds its input open
      }
      running.stop();
      System.out.println(running.counters());
    }
  }

  private Outcome handle(Message<RawPayload> message) throws InterruptedException {
    long begun = System.nanoTime();
    if (message.id() == settings.poison()) {
      Runtime.getRuntime().halt(137);
    }
    TimeUnit.MILLISECONDS.sleep(settings.handleMillis());
    ledger.append(new Ledger.Entry(message.id(), message.attempt(), begun, System.nanoTime()));
    return Outcome.done();
  }
}
