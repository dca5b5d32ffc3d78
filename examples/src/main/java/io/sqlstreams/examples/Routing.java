package io.sqlstreams.examples;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.GroupBindings;
import io.sqlstreams.Outcome;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.config.Binding;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;

/**
 * A shop's orders in one stream. The customs desk reads those of some countries, by the routing
 * key; the courier the express ones of good customers, by the headers. Later the desk takes on
 * another country, from a point on that the group can tell exactly.
 */
public final class Routing {
  record Order(String id) {}

  private Routing() {}

  public static void main(String[] args) throws Exception {
    try (ExampleDatabase database = ExampleDatabase.open(args);
        SqlStreams client = database.client()) {
      StreamHandle<Order> orders = client.stream("orders", Order.class);
      orders.register();

      ConsumerGroup<Order> customs = orders.group("customs");
      customs.register(GroupConfig.defaults().withBindings("orders.ch.*", "orders.no.*"));
      ConsumerGroup<Order> courier = orders.group("courier");
      courier.register(
          GroupConfig.defaults()
              .withBindings(Binding.header("speed", "express").and("tier", "gold"))); // both

      Producer<Order> producer = orders.producer();
      producer.produce(new Order("basel"), to("orders.ch.basel"));
      producer.produce(new Order("berlin"), express("orders.de.berlin", "gold"));
      producer.produce(new Order("london"), to("orders.uk.london"));
      producer.produce(new Order("paris"), express("orders.fr.paris", "silver"));
      producer.produce(new Order("oslo"), express("orders.no.oslo", "gold"));

      System.out.println("customs gets " + readUntil("oslo", customs));
      System.out.println("the courier gets " + readUntil("oslo", courier));

      // the whole set is declared anew; what the desk has passed already stays passed
      customs.register(
          GroupConfig.defaults().withBindings("orders.ch.*", "orders.no.*", "orders.uk.*"));
      GroupBindings now = customs.bindings();
      System.out.println(
          "customs reads " + now.bindings() + " above message " + now.above() + ", " + now.state());

      producer.produce(new Order("leeds"), to("orders.uk.leeds"));
      producer.produce(new Order("rome"), to("orders.it.rome"));
      producer.produce(new Order("geneva"), to("orders.ch.geneva"));
      System.out.println("customs gets " + readUntil("geneva", customs));
    }
  }

  private static ProduceOptions to(String place) {
    return ProduceOptions.defaults().withRoutingKey(place);
  }

  private static ProduceOptions express(String place, String tier) {
    return to(place).withHeader("speed", "express").withHeader("tier", tier);
  }

  private static List<String> readUntil(String last, ConsumerGroup<Order> group)
      throws InterruptedException {
    List<String> read = new CopyOnWriteArrayList<>();
    CountDownLatch done = new CountDownLatch(1);
    try (Consumption consumption =
        group.consume(
            message -> {
              read.add(message.payload().id());
              if (message.payload().id().equals(last)) {
                done.countDown();
              }
              return Outcome.done();
            },
            ConsumeOptions.defaults().withHandlers(1))) { // one by one, in order
      done.await();
      consumption.stop();
    }
    return read;
  }
}
