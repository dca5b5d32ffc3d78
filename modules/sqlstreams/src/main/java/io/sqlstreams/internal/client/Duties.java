package io.sqlstreams.internal.client;

import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.produce.PlannedWriter;
import io.sqlstreams.internal.schedule.ScheduleProducer;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.upkeep.CursorAdvancer;
import io.sqlstreams.internal.upkeep.GroupJanitor;
import io.sqlstreams.internal.upkeep.StreamJanitor;
import io.sqlstreams.internal.upkeep.StreamVacuum;
import java.util.List;

/** The background work that this build knows to do. */
final class Duties {
  /** Where a client's duties come from. */
  @FunctionalInterface
  interface Source {
    /** One object for each kind of worker, for this installation. */
    List<? extends Duty> of(Database database, Scope system, Waking waking);
  }

  private Duties() {}

  /** See {@link Source}. */
  static List<Duty> of(Database database, Scope system, Waking waking) {
    Partitions partitions = new Partitions(database, system);
    return List.of(
        new StreamJanitor(database, system, partitions, new Heads(database, system)),
        new StreamVacuum(database, system),
        new CursorAdvancer(database, system),
        new GroupJanitor(database, system),
        new ScheduleProducer(
            database,
            system,
            new Catalog(database, system),
            new PlannedWriter(database, system, partitions::ensureThrough),
            waking::tell));
  }
}
