package io.sqlstreams.internal.client;

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
public final class Duties {
  /** Where a client's duties come from. */
  @FunctionalInterface
  public interface Source {
    /** One object for each kind of worker. */
    List<? extends Duty> of(Ground ground);
  }

  private Duties() {}

  /** See {@link Source}. */
  static List<Duty> of(Ground ground) {
    Database database = ground.database();
    Scope system = ground.system();
    Partitions partitions = new Partitions(database, system);
    return List.of(
        new StreamJanitor(database, system, partitions, new Heads(database, system)),
        new StreamVacuum(database, system),
        new CursorAdvancer(database, system),
        new GroupJanitor(database, system),
        new ScheduleProducer(
            database,
            system,
            ground.catalog(),
            new PlannedWriter(database, system, partitions::ensureThrough),
            ground.waking()::tell));
  }
}
