package io.sqlstreams.internal.upkeep;

import io.sqlstreams.UpkeepRun;
import java.util.function.BooleanSupplier;

/** What one turn of a stream's upkeep has done, and whether it goes on. Not thread-safe. */
final class Tally {
  private final BooleanSupplier isWanted;
  private int created;
  private int dropped;
  private long keys;
  private long heads;
  private long exceptions;
  private long deliveries;

  /**
   * @param isWanted whether this process is still to do it
   */
  Tally(BooleanSupplier isWanted) {
    this.isWanted = isWanted;
  }

  boolean goesOn() {
    return isWanted.getAsBoolean() && !Thread.currentThread().isInterrupted();
  }

  void created(int partitions) {
    created += partitions;
  }

  void dropped() {
    dropped++;
  }

  void keys(long swept) {
    keys += swept;
  }

  void heads(long swept) {
    heads += swept;
  }

  void exceptions(long swept) {
    exceptions += swept;
  }

  void deliveries(long swept) {
    deliveries += swept;
  }

  UpkeepRun result() {
    return new UpkeepRun(created, dropped, keys, heads, exceptions, deliveries);
  }
}
