package io.sqlstreams.examples;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.KeyedMessage;
import io.sqlstreams.Outcome;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.ProduceOptions;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;

/**
 * The prices of a shop: a stream of price changes that is at the same time a table of the prices as
 * they are now. A web site that is started long afterwards gets each article's last state, and not
 * all that came before.
 */
public final class KeyValue {
  record Price(int cents) {}

  private KeyValue() {}

  public static void main(String[] args) throws Exception {
    try (ExampleDatabase database = ExampleDatabase.open(args);
        SqlStreams client = database.client()) {
      StreamHandle<Price> prices = client.stream("prices", Price.class);
      prices.register();

      Producer<Price> producer = prices.producer();
      producer.produce(new Price(450), ProduceOptions.key("coffee").withCompaction());
      producer.produce(new Price(300), ProduceOptions.key("tea").withCompaction());
      producer.produce(new Price(275), ProduceOptions.key("cocoa").withCompaction());
      producer.produce(new Price(320), ProduceOptions.key("tea").withCompaction());
      tell(prices, "tea");

      // read, change, write, under the key's lock: of two such updates none is lost
      prices.key("tea").update(now -> now == null ? null : new Price(now.cents() + 15));
      tell(prices, "tea");

      // what isn't there isn't made dearer: null leaves the key as it is
      prices.key("milk").update(now -> now == null ? null : new Price(now.cents() + 15));
      tell(prices, "milk");

      producer.produceTombstone("cocoa"); // no longer sold
      tell(prices, "cocoa");

      ConsumerGroup<Price> website = prices.group("website");
      website.register(); // from the beginning of the stream
      BlockingQueue<String> shown = new LinkedBlockingQueue<>();
      try (Consumption consumption =
          website.consume(
              message -> {
                shown.add(
                    message.isTombstone()
                        ? "no " + message.key()
                        : message.key() + " for " + message.payload().cents());
                return Outcome.done();
              },
              ConsumeOptions.defaults().withHandlers(1))) { // one by one, in order
        System.out.println("the web site shows " + shown.take());
        System.out.println("the web site shows " + shown.take());
        System.out.println("the web site shows " + shown.take());
        consumption.stop();
        System.out.println("nothing is left: " + (website.snapshot().lag().messages() == 0));
      }
      // the log keeps the others: the three prices that tea has had
      System.out.println("tea had " + prices.key("tea").messages(10).size() + " prices");
    }
  }

  private static void tell(StreamHandle<Price> prices, String article) {
    String now = prices.key(article).head().map(KeyValue::describe).orElse("never heard of");
    System.out.println(article + ": " + now);
  }

  private static String describe(KeyedMessage<Price> head) {
    Price price = head.payload();
    return price == null ? "deleted" : price.cents() + " by message " + head.id();
  }
}
