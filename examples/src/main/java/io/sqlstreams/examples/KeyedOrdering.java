package io.sqlstreams.examples;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A bank books the movements of each account in their order, and those of different accounts side
 * by side. While one can't be booked and is tried again, the later ones of its account wait, and
 * the other accounts go on.
 */
public final class KeyedOrdering {
  record Movement(String account, int amount) {}

  private KeyedOrdering() {}

  public static void main(String[] args) throws Exception {
    try (ExampleDatabase database = ExampleDatabase.open(args);
        SqlStreams client = database.client()) {
      StreamHandle<Movement> movements = client.stream("movements", Movement.class);
      movements.register();
      ConsumerGroup<Movement> ledger = movements.group("ledger");
      ledger.register(
          GroupConfig.defaults()
              .withConcurrency(Concurrency.ORDERED)
              .withRetry(
                  RetryPolicy.defaults()
                      .withMaxRetries(RetryPolicy.UNLIMITED) // a freeze may last for days
                      .withInitialBackoff(Duration.ofMillis(50))
                      .withCap(Duration.ofMillis(200))));

      List<Outgoing<Movement>> day =
          List.of(
              movement("alice", 100),
              movement("bob", 20),
              movement("alice", -30),
              movement("bob", -5),
              movement("alice", 10),
              movement("carol", 50),
              movement("bob", 1));
      movements.producer().produceAll(day);

      AtomicBoolean frozen = new AtomicBoolean(true);
      CountDownLatch refused = new CountDownLatch(1);
      BlockingQueue<Movement> booked = new LinkedBlockingQueue<>();
      try (Consumption consumption =
          ledger.consume( // with eight handlers, the default
              message -> {
                Movement movement = message.payload();
                // nothing may be taken from alice's account, for now
                if (movement.account().equals("alice") && movement.amount() < 0 && frozen.get()) {
                  refused.countDown();
                  return Outcome.failed(new IllegalStateException("the account is frozen"));
                }
                booked.add(movement);
                return Outcome.done();
              })) {
        refused.await();
        System.out.println("alice's account is frozen, booked are " + next(5, booked));
        frozen.set(false);
        System.out.println("it is released, booked are " + next(2, booked));
        consumption.stop();
        System.out.println("nothing is left: " + booked.isEmpty());
      }
    }
  }

  /** A message whose key is the account. */
  private static Outgoing<Movement> movement(String account, int amount) {
    return Outgoing.of(new Movement(account, amount), ProduceOptions.key(account));
  }

  /** The next movements by account, in the order in which they were booked. */
  private static Map<String, List<Integer>> next(int count, BlockingQueue<Movement> booked)
      throws InterruptedException {
    Map<String, List<Integer>> amounts = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      Movement movement = booked.take();
      amounts
          .computeIfAbsent(movement.account(), account -> new ArrayList<>())
          .add(movement.amount());
    }
    return amounts;
  }
}
