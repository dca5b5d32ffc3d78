package io.sqlstreams.cli.demo;

import java.util.BitSet;

/**
 * Ids, and how many came more than once. The demo's stream is new, so its ids are small. For one
 * thread.
 */
final class Tally {
  private final BitSet ids = new BitSet();
  private long repeats;

  void add(long id) {
    int index = Math.toIntExact(id);
    if (ids.get(index)) {
      repeats++;
    } else {
      ids.set(index);
    }
  }

  /** How many different ids came. */
  int distinct() {
    return ids.cardinality();
  }

  /** How often an id came that had come before. */
  long repeats() {
    return repeats;
  }

  /** How many ids are here that aren't there. */
  int missingFrom(Tally other) {
    BitSet missing = (BitSet) ids.clone();
    missing.andNot(other.ids);
    return missing.cardinality();
  }
}
