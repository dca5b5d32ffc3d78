package io.sqlstreams.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A process that consumes for one group until its standard input ends or it is asked to end. It
 * writes {@code ready} when it consumes, and its counters when it has stopped.
 */
public final class WorkerProcess {
  private final WorkerSettings settings;
  private final Ledger ledger;
  private final CountDownLatch ready = new CountDownLatch(1);

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
    pool.setMaximumPoolSize(settings.handlers() + 4);
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
            consume(client.stream(settings.stream()).group(settings.group()), options)) {
      Runtime.getRuntime().addShutdownHook(new Thread(running::stop));
      System.out.println("ready");
      ready.countDown();
      while (System.in.read() >= 0) {
        // whoever started this process holds its input open
      }
      running.stop();
      System.out.println(running.counters());
    }
  }

  private Consumption consume(ConsumerGroup<RawPayload> group, ConsumeOptions options) {
    return switch (settings.kind()) {
      case LEDGER -> group.consume(this::handle, options);
      case EFFECTS -> group.consumeTransactional(this::handle, options);
    };
  }

  private Outcome handle(Message<RawPayload> message, Connection connection) throws Exception {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO " + settings.schema() + ".effects (message_id) VALUES (?)")) {
      insert.setLong(1, message.id());
      insert.executeUpdate();
    }
    return handle(message);
  }

  private Outcome handle(Message<RawPayload> message) throws InterruptedException {
    long begun = System.nanoTime();
    if (message.id() == settings.poison()) {
      ready.await(); // whoever started this process waits for the word
      Runtime.getRuntime().halt(137);
    }
    TimeUnit.MILLISECONDS.sleep(settings.handleMillis());
    ledger.append(new Ledger.Entry(message.id(), message.attempt(), begun, System.nanoTime()));
    return Outcome.done();
  }
}
