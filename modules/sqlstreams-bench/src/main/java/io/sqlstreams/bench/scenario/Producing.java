package io.sqlstreams.bench.scenario;

import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.IdSet;
import io.sqlstreams.bench.load.Quota;
import java.util.List;
import java.util.concurrent.TimeUnit;
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
  private final Keys keys;
  private final IdSet ids = new IdSet();
  private final Histogram callMicros = new ConcurrentHistogram(DIGITS);

  Producing(Cargo<T> cargo, Quota quota) {
    this(cargo, quota, Keys.NONE);
  }

  Producing(Cargo<T> cargo, Quota quota, Keys keys) {
    this.keys = keys;
    this.cargo = cargo;
    this.producer = cargo.stream().producer();
    this.quota = quota;
  }

  /** Calls {@link Producer#produceAll} until the quota is used up. */
  void inBatches() {
    for (int size = quota.take(BATCH); size > 0; size = quota.take(BATCH)) {
      long begin = System.nanoTime();
      List<Produced> receipts = producer.produceAll(cargo.batch(size, keys));
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
      Produced receipt = producer.produce(cargo.one(number), keys.next());
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
    if (ids.add(receipt.id()) == 0) {
      throw new BenchException("two receipts have the id " + receipt.id());
    }
  }
}
