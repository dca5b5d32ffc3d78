package io.sqlstreams.internal.produce;

import io.sqlstreams.Produced;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

/** What became of the messages of one write, in their order. For one thread. */
final class Receipts {
  private final long[] ids;
  private final BitSet duplicates;
  private final BitSet others = new BitSet();

  /**
   * @param ids of the messages, or of their originals
   * @param duplicates the places of those that weren't written
   */
  Receipts(long[] ids, BitSet duplicates) {
    this.ids = ids;
    this.duplicates = duplicates;
  }

  /** All of them were written. */
  static Receipts written(long[] ids) {
    return new Receipts(ids, new BitSet());
  }

  /** The places of the messages that weren't written, rising. */
  int[] duplicates() {
    return duplicates.stream().toArray();
  }

  long id(int place) {
    return ids[place];
  }

  /** The ids of the messages that were written, in their order. */
  long[] writtenIds() {
    return IntStream.range(0, ids.length)
        .filter(place -> !duplicates.get(place))
        .mapToLong(place -> ids[place])
        .toArray();
  }

  /** The original of this duplicate has another payload. */
  void setOtherPayload(int place) {
    others.set(place);
  }

  List<Produced> toList() {
    List<Produced> list = new ArrayList<>(ids.length);
    for (int place = 0; place < ids.length; place++) {
      list.add(new Produced(ids[place], duplicates.get(place), !others.get(place)));
    }
    return List.copyOf(list);
  }
}
