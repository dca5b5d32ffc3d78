package io.sqlstreams.bench.scenario;

import io.sqlstreams.config.ProduceOptions;
import java.util.concurrent.ThreadLocalRandom;

/** The message keys of what is produced. */
enum Keys {
  /** None. */
  NONE(0, false),
  /** 100,000, in no order. */
  MANY(100_000, false),
  /** The same, and the messages are compacted. */
  MANY_COMPACTED(100_000, true),
  /** One for all messages, which are compacted. */
  ONE_COMPACTED(1, true);

  private final int keys;
  private final boolean compacted;

  Keys(int keys, boolean compacted) {
    this.keys = keys;
    this.compacted = compacted;
  }

  /** The options of one message. */
  ProduceOptions next() {
    if (keys == 0) {
      return ProduceOptions.defaults();
    }
    ProduceOptions keyed = ProduceOptions.key("key-" + ThreadLocalRandom.current().nextInt(keys));
    return compacted ? keyed.withCompaction() : keyed;
  }
}
