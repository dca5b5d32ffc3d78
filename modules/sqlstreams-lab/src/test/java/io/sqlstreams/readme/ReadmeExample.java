package io.sqlstreams.readme;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.ExceptionInfo;
import io.sqlstreams.GroupSnapshot;
import io.sqlstreams.KeyedMessage;
import io.sqlstreams.MessageKey;
import io.sqlstreams.Outcome;
import io.sqlstreams.Rewind;
import io.sqlstreams.ScheduleInfo;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.codec.SchemaVersion;
import io.sqlstreams.config.Binding;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Page;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.sql.DataSource;

/** The README's example, as it stands there between the two marks. */
final class ReadmeExample {
  static final List<OrderPlaced> CHARGED = new CopyOnWriteArrayList<>();

  private ReadmeExample() {}

  // spotless:off
  // README begins
  record OrderPlaced(String orderId, BigDecimal total) {}

  static void run(DataSource dataSource) throws InterruptedException {
    try (SqlStreams client = SqlStreams.builder(dataSource).build()) {
      StreamHandle<OrderPlaced> orders = client.stream("orders.placed", OrderPlaced.class);
      orders.register();
      orders.group("billing").register();

      try (Consumption billing =
          orders.group("billing").consume(message -> {
            charge(message.payload());
            return Outcome.done();
          })) {
        client.inTransaction(connection -> {
          insertOrder(connection, "o-1");
          return orders.producer().in(connection).produce(new OrderPlaced("o-1", new BigDecimal("9.90")));
        });
        billing.awaitStopped(Duration.ofSeconds(1));
      }
    }
  }

  // README ends

  // README begins
  static Consumption invoices(StreamHandle<OrderPlaced> orders) {
    ConsumerGroup<OrderPlaced> group = orders.group("invoices");
    group.register(GroupConfig.defaults()
        .withTimeout(Duration.ofSeconds(5))
        .withRetry(RetryPolicy.defaults().withMaxRetries(8).withCap(Duration.ofHours(1))));
    return group.consumeTransactional((message, connection) -> {
      insertInvoice(connection, message.payload()); // once for each message, whatever crashes
      return Outcome.done();
    });
  }

  // README ends

  // README begins
  static Consumption movements(StreamHandle<OrderPlaced> orders) {
    ConsumerGroup<OrderPlaced> group = orders.group("movements");
    group.register(GroupConfig.defaults().withConcurrency(Concurrency.ORDERED));
    return group.consume(message -> {
      charge(message.payload()); // of one key in order, of others at the same time
      return Outcome.done();
    });
  }
  // README ends

  // README begins
  @SchemaVersion(2)
  record OrderPlacedV2(String orderId, BigDecimal total, String currency) {}

  static ConsumerGroup<OrderPlacedV2> europe(SqlStreams client) {
    ConsumerGroup<OrderPlacedV2> group = client.stream("orders.placed", OrderPlacedV2.class)
        .upgrade(1, OrderPlaced.class, v1 -> new OrderPlacedV2(v1.orderId(), v1.total(), "EUR"))
        .group("europe");
    group.register(GroupConfig.defaults().withBindings(
        Binding.routingKey("orders.eu.*"),
        Binding.header("region", "eu").and("tier", "gold")));
    return group;
  }

  // README ends

  // README begins
  static long lookAfter(ConsumerGroup<OrderPlaced> group) {
    GroupSnapshot now = group.snapshot();
    System.out.println(now.lag() + ", " + now.exceptions());
    for (ExceptionInfo dead : group.exceptions().list(ExceptionFilter.dead(), Page.first(100))) {
      System.out.println(dead.messageId() + ": " + dead.lastError());
    }
    long redriven = group.exceptions().redrive(ExceptionFilter.dead().withErrorContains("timeout"), 1_000);
    Rewind preview = group.previewRewind(Start.at(Instant.now().minus(Duration.ofHours(2))));
    System.out.println("a rewind would deliver " + preview.messages() + " messages again");
    return redriven;
  }

  // README ends

  // README begins
  record InvoiceRun(String region) {}

  static ScheduleInfo everyNight(SqlStreams client) {
    client.stream("invoices").register(StreamConfig.defaults().withRetention(Duration.ofDays(90)));
    return client.schedule("invoices.nightly").register(
        "invoices", Cron.of("0 2 * * *", ZoneId.of("Europe/Oslo")), new InvoiceRun("eu"));
  }
  // README ends

  // README begins
  record Stock(int pieces) {}

  static int sell(SqlStreams client, String article) {
    StreamHandle<Stock> stocks = client.stream("stocks", Stock.class);
    stocks.producer().produce(new Stock(10), ProduceOptions.key(article).withCompaction());
    MessageKey<Stock> stock = stocks.key(article);
    // read, change, write, in one transaction under the key's lock; null leaves it as it is
    stock.update(now -> now == null ? null : new Stock(now.pieces() - 1));
    int left = stock.head().map(KeyedMessage::payload).map(Stock::pieces).orElse(0);
    stocks.producer().produceTombstone(article); // deletes the key
    return left;
  }

  // README ends
  // spotless:on

  private static void charge(OrderPlaced order) {
    CHARGED.add(order);
  }

  private static void insertInvoice(Connection connection, OrderPlaced order) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("INSERT INTO readme_orders (id) VALUES (?)")) {
      statement.setString(1, "invoice of " + order.orderId());
      statement.executeUpdate();
    }
  }

  private static void insertOrder(Connection connection, String id) {
    try (PreparedStatement statement =
        connection.prepareStatement("INSERT INTO readme_orders (id) VALUES (?)")) {
      statement.setString(1, id);
      statement.executeUpdate();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
