package io.sqlstreams.internal.produce;

import io.sqlstreams.internal.sql.Call;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Compacted messages that were copied, and the heads of their keys. */
final class Heads {
  /** How many heads one statement takes at most, so that its arrays stay small. */
  static final int KEYS_AT_ONCE = 10_000;

  private record Candidate(String key, long id, int schemaVersion, long rank, boolean tombstone) {
    boolean beats(Candidate other) {
      int order = Integer.compare(schemaVersion, other.schemaVersion);
      order = order == 0 ? Long.compare(rank, other.rank) : order;
      return order > 0 || (order == 0 && id > other.id);
    }
  }

  private Heads() {}

  /** Whether one of these messages is compacted. */
  static boolean areAmong(List<ReadyMessage> messages) {
    return messages.stream().anyMatch(ReadyMessage::isCompacted);
  }

  /**
   * Takes the heads of these messages' keys, unless those that are there are greater. In the
   * transaction that has copied them.
   */
  static void take(Connection connection, TargetLog log, long[] ids, List<ReadyMessage> messages)
      throws SQLException {
    List<Candidate> winners = winners(ids, messages);
    for (int from = 0; from < winners.size(); from += KEYS_AT_ONCE) {
      take(connection, log, winners.subList(from, Math.min(winners.size(), from + KEYS_AT_ONCE)));
    }
  }

  /** The greatest message of each key, in the order of the keys. */
  private static List<Candidate> winners(long[] ids, List<ReadyMessage> messages) {
    Map<String, Candidate> winners = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      ReadyMessage message = messages.get(i);
      Long rank = message.compactionRank();
      String key = message.messageKey();
      if (rank != null && key != null) {
        winners.merge(
            key,
            new Candidate(key, ids[i], message.schemaVersion(), rank, message.payload() == null),
            (before, next) -> next.beats(before) ? next : before);
      }
    }
    List<Candidate> ordered = new ArrayList<>(winners.values());
    ordered.sort((one, other) -> compareKeys(one.key(), other.key()));
    return ordered;
  }

  /** In the order of UTF-8's bytes, in which the database sorts the keys of one statement. */
  static int compareKeys(String one, String other) {
    int length = Math.min(one.length(), other.length());
    for (int i = 0; i < length; i++) {
      char here = one.charAt(i);
      char there = other.charAt(i);
      if (here != there) {
        // a surrogate stands for a character above all that need none
        int bySurrogate =
            Boolean.compare(Character.isSurrogate(here), Character.isSurrogate(there));
        return bySurrogate == 0 ? Character.compare(here, there) : bySurrogate;
      }
    }
    return Integer.compare(one.length(), other.length());
  }

  private static void take(Connection connection, TargetLog log, List<Candidate> winners)
      throws SQLException {
    try (Call call = log.takeHeads().on(connection)) {
      call.setArray("message_keys", "text", winners.stream().map(Candidate::key).toArray())
          .setArray("ids", "int8", winners.stream().map(Candidate::id).toArray())
          .setArray(
              "schema_versions", "int4", winners.stream().map(Candidate::schemaVersion).toArray())
          .setArray("compaction_ranks", "int8", winners.stream().map(Candidate::rank).toArray())
          .setArray("tombstones", "bool", winners.stream().map(Candidate::tombstone).toArray())
          .update();
    }
  }
}
