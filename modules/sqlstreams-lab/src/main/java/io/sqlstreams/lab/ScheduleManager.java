package io.sqlstreams.lab;

import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import io.sqlstreams.internal.migration.Gate;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.produce.PlannedWriter;
import io.sqlstreams.internal.schedule.ScheduleProducer;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import javax.sql.DataSource;

/** Believes that the schedules are its work, turn after turn, whoever else believes it too. */
public final class ScheduleManager implements AutoCloseable {
  private static final List<Post> POSTS = List.of(new HeldPost());

  private final ScheduleProducer duty;
  private final Thread thread = new Thread(this::run, "schedule-manager");
  private volatile boolean stopped;

  private ScheduleManager(ScheduleProducer duty) {
    this.duty = duty;
  }

  /** The duty alone. */
  public static ScheduleProducer duty(DataSource source, String schema, LongConsumer produced) {
    Database database = new Database(source, schema);
    Scope system = Scope.system(schema);
    Partitions partitions = new Partitions(database, system);
    return new ScheduleProducer(
        database,
        system,
        new Catalog(database, system, new Gate(system, Steps.ofThisBuild())),
        new PlannedWriter(database, system, partitions::ensureThrough),
        produced);
  }

  /** One turn. */
  public static void perform(ScheduleProducer duty) {
    duty.perform(POSTS);
  }

  /** Begins on a thread of its own. */
  public static ScheduleManager start(DataSource source, String schema) {
    ScheduleManager manager = new ScheduleManager(duty(source, schema, stream -> {}));
    manager.thread.setDaemon(true);
    manager.thread.start();
    return manager;
  }

  private void run() {
    while (!stopped) {
      try {
        duty.perform(POSTS);
      } catch (RuntimeException e) {
        // as the fleet does: it is tried again, the database may be back by then
        LockSupport.parkNanos(100_000_000);
      }
      LockSupport.parkNanos(duty.untilNext().toNanos());
    }
  }

  /** Lets it end the turn, and waits for that. */
  @Override
  public void close() {
    stopped = true;
    LockSupport.unpark(thread);
    Uninterruptibly.join(thread);
  }

  private record HeldPost() implements Post {
    @Override
    public long worker() {
      return 1;
    }

    @Override
    public long owner() {
      return 1;
    }

    @Override
    public UUID token() {
      return new UUID(0, 1);
    }

    @Override
    public boolean isHeld() {
      return true;
    }
  }
}
