package io.sqlstreams.bench.scenario;

import io.sqlstreams.config.ProduceOptions;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

/** What goes with the payloads of a round. */
enum Goods {
  /** Nothing. */
  PLAIN(""),
  /** An idempotency key of its own for each message. */
  IDEMPOTENT("an idempotency key each, "),
  /** One of 100,000 message keys, in no order. */
  KEYED("at 100,000 keys, "),
  /** The same, compacted. */
  COMPACTED("compacted, at 100,000 keys, "),
  /** One key for all, compacted. */
  HOT("compacted, at one key, ");

  private static final int MANY = 100_000;

  private final String words;

  Goods(String words) {
    this.words = words;
  }

  /** In words, as part of a description. */
  String words() {
    return words;
  }

  /** The options of the next message, of a new round. */
  Supplier<ProduceOptions> options() {
    return switch (this) {
      case PLAIN -> ProduceOptions::defaults;
      case IDEMPOTENT -> {
        AtomicLong number = new AtomicLong();
        yield () ->
            ProduceOptions.defaults().withIdempotencyKey("order-" + number.getAndIncrement());
      }
      case KEYED -> keyed(MANY);
      case COMPACTED -> () -> keyed(MANY).get().withCompaction();
      case HOT -> () -> keyed(1).get().withCompaction();
    };
  }

  /** One of so many message keys, in no order. */
  static Supplier<ProduceOptions> keyed(int keys) {
    return () -> ProduceOptions.key("key-" + ThreadLocalRandom.current().nextInt(keys));
  }
}
