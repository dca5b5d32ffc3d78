package io.sqlstreams.readme;

import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
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
  // spotless:on

  private static void charge(OrderPlaced order) {
    CHARGED.add(order);
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
