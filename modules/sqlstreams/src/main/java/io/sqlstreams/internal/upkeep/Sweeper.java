package io.sqlstreams.internal.upkeep;

import io.sqlstreams.HeadSweep;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import io.sqlstreams.internal.sql.Template;
import java.sql.ResultSet;
import java.time.Duration;

/**
 * Removes what has served its time. Each batch is a transaction of its own; a turn ends after a
 * number of them, so that one stream with much to sweep doesn't keep the others waiting.
 * Thread-safe.
 */
final class Sweeper {
  static final int BATCH = 1_000;
  private static final int BATCHES_PER_TURN = 50;
  private static final Duration SOON = Duration.ofSeconds(1);
  private static final Duration LONGEST_PAUSE = Duration.ofHours(1);

  private final Database database;
  private final Scope system;
  private final Heads heads;

  Sweeper(Database database, Scope system, Heads heads) {
    this.database = database;
    this.system = system;
    this.heads = heads;
  }

  /** Sweeps what is due by the memory. */
  void turn(Survey survey, Memory memory, Tally tally) {
    if (memory.isDue(memory.keys)) {
      sweepKeys(survey.stream(), memory, tally);
    }
    if (memory.isDue(memory.heads)) {
      sweepHeads(survey.stream(), memory, tally);
    }
    if (memory.isDue(memory.leftovers)) {
      sweepLeftovers(survey, memory, tally);
    }
  }

  private record Swept(long rows, long oldestMicros) {}

  private void sweepKeys(StreamInfo stream, Memory memory, Tally tally) {
    long ttlMicros = stream.config().idempotencyKeyTtl().toNanos() / 1_000;
    Statement sweep = SweepSql.KEYS.asTransactionByKeys(system.stream(stream.id()));
    Swept last = new Swept(BATCH, 0);
    for (int i = 0; i < BATCHES_PER_TURN && last.rows() == BATCH && tally.goesOn(); i++) {
      last =
          database.autoCommitted(
              what("idempotency keys", stream),
              connection -> {
                try (Call call = sweep.on(connection)) {
                  ResultSet row =
                      call.set("ttl_ns", stream.config().idempotencyKeyTtl().toNanos())
                          .set("most", BATCH)
                          .query();
                  row.next();
                  return new Swept(row.getLong("swept"), (long) row.getDouble("oldest_us"));
                }
              });
      tally.keys(last.rows());
    }
    // none that comes later can be due before
    long wait = last.rows() == BATCH ? 0 : ttlMicros - last.oldestMicros();
    memory.keys.in(wait, SOON, LONGEST_PAUSE);
  }

  private void sweepHeads(StreamInfo stream, Memory memory, Tally tally) {
    HeadSweep swept = heads.sweep(stream);
    tally.heads(swept.tombstones() + swept.empty());
    StreamConfig config = stream.config();
    Duration shortest =
        config.tombstoneTtl().compareTo(config.emptyHeadTtl()) < 0
            ? config.tombstoneTtl()
            : config.emptyHeadTtl();
    memory.heads.in(shortest.toNanos() / 1_000, SOON, LONGEST_PAUSE);
  }

  /** What belonged to messages that are given up. */
  private void sweepLeftovers(Survey survey, Memory memory, Tally tally) {
    if (survey.floor() == 0) {
      memory.leftovers.in(LONGEST_PAUSE);
      return;
    }
    long exceptions = sweep(survey, SweepSql.EXCEPTIONS, "exceptions", tally);
    tally.exceptions(exceptions);
    long deliveries = sweep(survey, SweepSql.DELIVERIES, "deliveries", tally);
    tally.deliveries(deliveries);
    if (deliveries >= (long) BATCH * BATCHES_PER_TURN) {
      memory.leftovers.now();
    } else {
      // an attempt that was under way may leave something later
      memory.leftoversAreSwept(LONGEST_PAUSE);
    }
  }

  private long sweep(Survey survey, Template template, String rows, Tally tally) {
    Statement sweep = template.asTransactionByKeys(system.stream(survey.stream().id()));
    long all = 0;
    long some = BATCH;
    for (int i = 0; i < BATCHES_PER_TURN && some >= BATCH && tally.goesOn(); i++) {
      some =
          database.autoCommitted(
              what(rows, survey.stream()),
              connection -> {
                try (Call call = sweep.on(connection)) {
                  ResultSet row = call.set("floor", survey.floor()).set("most", BATCH).query();
                  row.next();
                  return row.getLong("swept");
                }
              });
      all += some;
    }
    return all;
  }

  private static String what(String rows, StreamInfo stream) {
    return "sweep " + rows + " of stream \"" + stream.name() + "\"";
  }
}
