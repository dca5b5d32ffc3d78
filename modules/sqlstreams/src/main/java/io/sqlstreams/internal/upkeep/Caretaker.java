package io.sqlstreams.internal.upkeep;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.partition.Slice;
import io.sqlstreams.internal.partition.Slices;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import org.jspecify.annotations.Nullable;

/** Does for one stream what is due. Thread-safe. */
final class Caretaker {
  private final Partitions partitions;
  private final Retention retention;
  private final Sweeper sweeper;

  Caretaker(Database database, Scope system, Partitions partitions, Slices slices, Heads heads) {
    this.partitions = partitions;
    this.retention = new Retention(database, system, slices, heads);
    this.sweeper = new Sweeper(database, system, heads);
  }

  void turn(Survey survey, Memory memory, Tally tally) {
    memory.surveyed(survey);
    @Nullable RuntimeException first = null;
    long floor = survey.floor();
    try {
      createAhead(survey, tally);
      if (memory.isDue(memory.retention)) {
        floor = retention.turn(survey, memory, tally);
      }
    } catch (RuntimeException e) {
      first = e;
    }
    // whatever is the matter with its partitions, the rest is done
    try {
      sweeper.turn(
          new Survey(survey.stream(), survey.lastId(), floor, survey.failures(), survey.slices()),
          memory,
          tally);
    } catch (RuntimeException e) {
      if (first == null) {
        throw e;
      }
      first.addSuppressed(e);
    }
    if (first != null) {
      throw first;
    }
  }

  /** The next partition comes as soon as the last one is begun: there is all of it left then. */
  private void createAhead(Survey survey, Tally tally) {
    StreamInfo stream = survey.stream();
    long size = stream.config().partitionSize();
    // where all up to the last id was given up, the next message comes behind the floor
    long last = Math.max(Math.max(survey.lastId(), 1), survey.floor() + 1);
    boolean hasNext =
        last > Long.MAX_VALUE - size
            || covers(survey, last + size)
            || covers(survey, nextAfter(survey, last));
    if (!covers(survey, last) || !hasNext) {
      tally.created(partitions.ensureAhead(stream, last));
    }
  }

  /** The id that follows the partition of this one. */
  private static long nextAfter(Survey survey, long id) {
    return survey.slices().stream()
        .filter(slice -> slice.firstId() <= id && id <= slice.lastId())
        .mapToLong(slice -> slice.lastId() == Long.MAX_VALUE ? id : slice.lastId() + 1)
        .findFirst()
        .orElse(0);
  }

  private static boolean covers(Survey survey, long id) {
    for (Slice slice : survey.slices()) {
      if (!slice.isDetaching() && slice.firstId() <= id && id <= slice.lastId()) {
        return true;
      }
    }
    return false;
  }
}
