package io.sqlstreams.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.BatchOutcome;
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
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
      case SCRIPT -> group.consume(this::act, options);
      case SCRIPT_BATCHES -> group.consumeBatches(this::actAll, options);
      case SCRIPT_EFFECTS ->
          group.consumeTransactional(
              (message, connection) -> {
                insert(message, connection);
                return act(message);
              },
              options);
    };
  }

  private Outcome handle(Message<RawPayload> message, Connection connection) throws Exception {
    insert(message, connection);
    return handle(message);
  }

  private void insert(Message<RawPayload> message, Connection connection) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO " + settings.schema() + ".effects (message_id) VALUES (?)")) {
      insert.setLong(1, message.id());
      insert.executeUpdate();
    }
  }

  private BatchOutcome actAll(List<Message<RawPayload>> messages) throws InterruptedException {
    List<Outcome> outcomes = new ArrayList<>();
    for (Message<RawPayload> message : messages) {
      outcomes.add(act(message));
    }
    return BatchOutcome.each(outcomes);
  }

  /** Without its last entry the process died in between. */
  private Outcome act(Message<RawPayload> message) throws InterruptedException {
    long begun = System.nanoTime();
    ledger.append(new Ledger.Entry(message.id(), message.attempt(), begun, Ledger.Entry.RUNNING));
    TimeUnit.MILLISECONDS.sleep(settings.handleMillis());
    Step step = Script.parse(message.payload().bytes(), 0).at(message.attempt());
    ledger.append(new Ledger.Entry(message.id(), message.attempt(), begun, System.nanoTime()));
    return switch (step.kind()) {
      case DONE -> Outcome.done();
      case FAIL -> Outcome.failed(new IllegalStateException(step.words(message.attempt())));
      case DELAY -> Outcome.delay(Duration.ofMillis(step.millis()));
      case DEAD -> Outcome.dead(step.words(message.attempt()));
      default -> throw new IllegalArgumentException("not for workers: " + step);
    };
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
