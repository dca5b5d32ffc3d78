package io.sqlstreams.examples;

import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.Produced;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.config.ConsumeOptions;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * A shop places orders and tells the warehouse. The order's row and the message about it are
 * committed together, or neither is there: no order without its message, no message about an order
 * that never was.
 */
public final class Outbox {
  record OrderPlaced(String orderId, BigDecimal total) {}

  private Outbox() {}

  public static void main(String[] args) throws Exception {
    try (ExampleDatabase database = ExampleDatabase.open(args);
        SqlStreams client = database.client()) {
      database.execute(
          "CREATE TABLE orders (id TEXT PRIMARY KEY, total NUMERIC NOT NULL CHECK (total > 0))");
      StreamHandle<OrderPlaced> placed = client.stream("orders.placed", OrderPlaced.class);
      placed.register();
      placed.group("warehouse").register();

      place(client, placed, new OrderPlaced("o-1", new BigDecimal("9.90")));
      try {
        place(client, placed, new OrderPlaced("o-2", new BigDecimal("-1.00")));
      } catch (SQLException refused) {
        System.out.println("o-2 is refused, and so its message is gone too");
      }
      place(client, placed, new OrderPlaced("o-3", new BigDecimal("120.00")));

      BlockingQueue<String> packed = new LinkedBlockingQueue<>();
      try (Consumption warehouse =
          placed
              .group("warehouse")
              .consume(
                  message -> {
                    packed.add(message.payload().orderId());
                    return Outcome.done();
                  },
                  ConsumeOptions.defaults().withHandlers(1))) { // one by one, in order
        System.out.println("the warehouse packs " + packed.take());
        System.out.println("the warehouse packs " + packed.take());
        warehouse.stop();
        System.out.println("nothing is left: " + packed.isEmpty());
      }
    }
  }

  private static void place(SqlStreams client, StreamHandle<OrderPlaced> placed, OrderPlaced order)
      throws SQLException {
    Produced produced =
        client.inTransaction(
            connection -> {
              // the message first: whatever fails after it takes it back
              Produced receipt = placed.producer().in(connection).produce(order);
              insert(connection, order);
              return receipt;
            });
    System.out.println(order.orderId() + " is placed, its message is " + produced.id());
  }

  private static void insert(Connection connection, OrderPlaced order) throws SQLException {
    try (PreparedStatement statement =
        connection.prepareStatement("INSERT INTO orders (id, total) VALUES (?, ?)")) {
      statement.setString(1, order.orderId());
      statement.setBigDecimal(2, order.total());
      statement.executeUpdate();
    }
  }
}
