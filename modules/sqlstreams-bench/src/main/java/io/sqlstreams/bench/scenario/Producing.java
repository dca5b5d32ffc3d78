package io.sqlstreams.bench.scenario;

import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.IdSet;
import io.sqlstreams.bench.load.Quota;
import io.sqlstreams.config.ProduceOptions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/** Produces what the quota allows, and keeps the receipts. Thread-safe. */
final class Producing<T> {
  /** The size of a large batch, here and in the raw limit. */
  static final int BATCH = 2_000;

  private static final int DIGITS = 3;

  private final Cargo<T> cargo;
  private final Producer<T> producer;
  private final Quota quota;
  private final Supplier<ProduceOptions> options;
  private final IdSet ids = new IdSet();
  private final Histogram callMicros = new ConcurrentHistogram(DIGITS);

  Producing(Cargo<T> cargo, Quota quota) {
    this(cargo, quota, ProduceOptions::defaults);
  }

  /**
   * @param options what goes with the next message; asked by several threads
   */
  Producing(Cargo<T> cargo, Quota quota, Supplier<ProduceOptions> options) {
    this.cargo = cargo;
    this.producer = cargo.stream().producer();
    this.quota = quota;
    this.options = options;
  }

  /** Calls {@link Producer#produceAll} until the quota is used up. */
  void inBatches() {
    inBatches(BATCH);
  }

  /** Calls {@link Producer#produceAll} with lists of at most this size. */
  void inBatches(int most) {
    for (int size = quota.take(most); size > 0; size = quota.take(most)) {
      long begin = System.nanoTime();
      List<Produced> receipts = producer.produceAll(cargo.batch(size, options));
      record(begin);
      if (receipts.size() != size) {
        throw new BenchException(size + " messages gave " + receipts.size() + " receipts");
      }
      receipts.forEach(this::keep);
    }
  }

  /** Calls {@link Producer#produce} until the quota is used up. */
  void oneByOne() {
    for (long number = 0; quota.take(1) > 0; number++) {
      long begin = System.nanoTime();
      Produced receipt = producer.produce(cargo.one(number), options.get());
      record(begin);
      keep(receipt);
    }
  }

  /** The ids of the receipts. */
  IdSet ids() {
    return ids;
  }

  /** How long each call took. */
  Histogram callMicros() {
    return callMicros;
  }

  private void record(long begin) {
    callMicros.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begin));
  }

  private void keep(Produced receipt) {
    if (receipt.duplicate()) {
      throw new BenchException("message " + receipt.id() + " is said to be a duplicate");
    }
    if (ids.add(receipt.id()) == 0) {
      throw new BenchException("two receipts have the id " + receipt.id());
    }
  }
}
