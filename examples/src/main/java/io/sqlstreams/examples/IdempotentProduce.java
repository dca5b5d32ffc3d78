package io.sqlstreams.examples;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.List;

/**
 * A payment provider calls a webhook, and calls again when it isn't sure that it was heard. The
 * event's id is the idempotency key, so each payment is in the stream once, whoever sends it again
 * and by whichever way.
 */
public final class IdempotentProduce {
  record Payment(String eventId, String account, BigDecimal amount) {}

  private IdempotentProduce() {}

  public static void main(String[] args) throws Exception {
    try (ExampleDatabase database = ExampleDatabase.open(args);
        SqlStreams client = database.client()) {
      StreamHandle<Payment> payments = client.stream("payments", Payment.class);
      // the provider repeats itself for up to three days
      payments.register(StreamConfig.defaults().withIdempotencyKeyTtl(Duration.ofDays(3)));
      Producer<Payment> producer = payments.producer();
      Payment first = new Payment("evt_1", "alice", new BigDecimal("25.00"));

      tell("the webhook", producer.produce(first, once(first)));
      tell("the webhook again", producer.produce(first, once(first)));

      // the same id with something else in it: nothing is written, and the receipt says so
      Payment forged = new Payment("evt_1", "alice", new BigDecimal("9999.00"));
      tell("another amount", producer.produce(forged, once(forged)));

      // the nightly import brings what the webhook has brought already, and what it has missed
      Payment missed = new Payment("evt_2", "bob", new BigDecimal("7.50"));
      List<Outgoing<Payment>> night =
          List.of(Outgoing.of(first, once(first)), Outgoing.of(missed, once(missed)));
      for (Produced receipt : producer.produceAll(night)) {
        tell("the nightly import", receipt);
      }

      // within a transaction of one's own the key is used when that commits
      tell(
          "the reconciliation",
          client.inTransaction(
              connection -> producer.in(connection).produce(missed, once(missed))));
    }
  }

  private static ProduceOptions once(Payment payment) {
    return ProduceOptions.key(payment.account()).withIdempotencyKey(payment.eventId());
  }

  private static void tell(String who, Produced receipt) {
    String what = receipt.duplicate() ? "known as" : "written as";
    String but = receipt.samePayload() ? "" : ", but with another payload";
    System.out.println(who + ": " + what + " message " + receipt.id() + but);
  }
}
