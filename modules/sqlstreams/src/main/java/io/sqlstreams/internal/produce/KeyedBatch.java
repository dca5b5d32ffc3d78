package io.sqlstreams.internal.produce;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The messages of one write of which some have idempotency keys. Of several with the same key the
 * first alone is sent; the others are its duplicates, whatever becomes of it. For one thread.
 */
final class KeyedBatch {
  private final List<ReadyMessage> sent;
  private final Map<UUID, Integer> sentPlaces = new HashMap<>();

  /** For each message, the place among those that are sent of the one that stands for it. */
  private final int[] standIns;

  private final BitSet repeats = new BitSet();
  private final long[] ids;
  private final BitSet duplicates = new BitSet();
  private int taken;

  KeyedBatch(List<ReadyMessage> messages) {
    this.sent = new ArrayList<>(messages.size());
    this.standIns = new int[messages.size()];
    for (int place = 0; place < standIns.length; place++) {
      ReadyMessage message = messages.get(place);
      UUID key = message.idempotencyKey();
      @Nullable Integer earlier = key == null ? null : sentPlaces.putIfAbsent(key, sent.size());
      if (earlier == null) {
        standIns[place] = sent.size();
        sent.add(message);
      } else {
        standIns[place] = earlier;
        repeats.set(place);
      }
    }
    this.ids = new long[sent.size()];
  }

  static boolean hasKeys(List<ReadyMessage> messages) {
    return messages.stream().anyMatch(message -> message.idempotencyKey() != null);
  }

  static boolean allHaveKeys(List<ReadyMessage> messages) {
    return messages.stream().allMatch(message -> message.idempotencyKey() != null);
  }

  List<ReadyMessage> sent() {
    return sent;
  }

  @Nullable UUID[] keys() {
    return sent.stream().map(ReadyMessage::idempotencyKey).toArray(UUID[]::new);
  }

  /**
   * Takes a row of {@link KeyedSql}: there is one with the place of each message that was sent, and
   * one with the key of each whose key another transaction used at the same time.
   */
  void take(ResultSet row) throws SQLException {
    int place = row.getInt("place") - 1;
    boolean isRaced = row.wasNull();
    if (isRaced) {
      place = placeOf(row.getObject("idempotency_key", UUID.class));
    } else {
      taken++;
    }
    if (isRaced || !duplicates.get(place)) {
      ids[place] = row.getLong("id");
      duplicates.set(place, row.getBoolean("duplicate"));
    }
  }

  private int placeOf(UUID key) {
    @Nullable Integer place = sentPlaces.get(key);
    if (place == null) {
      throw new IllegalStateException("a key came back that wasn't sent");
    }
    return place;
  }

  /** What is left to be written, once all rows are taken. */
  List<ReadyMessage> unwritten() {
    return IntStream.range(0, ids.length)
        .filter(place -> !duplicates.get(place))
        .mapToObj(sent::get)
        .toList();
  }

  /** What has become of all messages, once all rows are taken and the rest is written. */
  Receipts receipts() {
    if (taken != ids.length) {
      throw new IllegalStateException(
          ids.length + " messages were sent, but the database told of " + taken);
    }
    long[] all = new long[standIns.length];
    BitSet notWritten = (BitSet) repeats.clone();
    for (int place = 0; place < all.length; place++) {
      all[place] = ids[standIns[place]];
      if (duplicates.get(standIns[place])) {
        notWritten.set(place);
      }
    }
    return new Receipts(all, notWritten);
  }
}
