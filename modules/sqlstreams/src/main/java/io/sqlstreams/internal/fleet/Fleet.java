package io.sqlstreams.internal.fleet;

import io.sqlstreams.Upkeep;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * The one manager of a client: it runs while somebody wants it, which are the client's consumers,
 * until the client is closed, and whoever has asked for it. Thread-safe.
 */
public final class Fleet {
  private final Database database;
  private final Scope system;
  private final List<? extends Duty> duties;
  private final FleetTiming timing;
  private final boolean carriedByConsumers;
  private final Set<Running> wanted = new HashSet<>();
  private @Nullable FleetManager manager;
  private boolean carried;
  private boolean closed;

  /**
   * @param duties what this build knows to do
   * @param carriedByConsumers whether it runs in every client that consumes
   */
  public Fleet(
      Database database,
      Scope system,
      List<? extends Duty> duties,
      FleetTiming timing,
      boolean carriedByConsumers) {
    this.database = database;
    this.system = system;
    this.duties = List.copyOf(duties);
    this.timing = timing;
    this.carriedByConsumers = carriedByConsumers;
  }

  /**
   * The client consumes. No I/O: whatever is wrong with the database is no matter of the caller.
   */
  public synchronized void carry() {
    if (carriedByConsumers && !duties.isEmpty() && !carried && !closed) {
      carried = true;
      ensureManager();
    }
  }

  /**
   * Runs the manager until the answer is stopped, or the client is closed.
   *
   * @throws NotInstalledException when there is no installation
   * @throws ClosedException when the client is closed
   */
  public Upkeep run() {
    new Declarations(system).ofAll(database);
    synchronized (this) {
      if (closed) {
        throw new ClosedException("the client");
      }
      Running running = new Running(ensureManager());
      wanted.add(running);
      return running;
    }
  }

  /** Stops it, whoever wants it. Idempotent. */
  public void close() {
    @Nullable FleetManager last;
    Set<Running> all;
    synchronized (this) {
      closed = true;
      carried = false;
      all = Set.copyOf(wanted);
      wanted.clear();
      last = takeManager();
    }
    end(last, all);
    if (last != null) {
      last.stop();
    }
  }

  private FleetManager ensureManager() {
    @Nullable FleetManager running = manager;
    if (running == null) {
      running = new FleetManager(database, system, duties, timing);
      running.start();
      manager = running;
    }
    return running;
  }

  private @Nullable FleetManager takeManager() {
    @Nullable FleetManager taken = manager;
    manager = null;
    return taken;
  }

  private void noLongerWanted(Running running) {
    @Nullable FleetManager last = null;
    synchronized (this) {
      if (!wanted.remove(running)) {
        return; // the client is closing
      }
      if (wanted.isEmpty() && !carried) {
        last = takeManager();
      }
    }
    end(last, Set.of(running));
  }

  /** They have ended when the manager has, or at once when it goes on for others. */
  private static void end(@Nullable FleetManager last, Set<Running> all) {
    if (last == null) {
      all.forEach(Running::ended);
    } else {
      last.requestStop();
      last.stopped().thenRun(() -> all.forEach(Running::ended));
    }
  }

  /** Somebody's wish that the manager runs. */
  private final class Running implements Upkeep {
    private final FleetManager by;
    private final AtomicBoolean stopAsked = new AtomicBoolean();
    private final CountDownLatch stopped = new CountDownLatch(1);

    Running(FleetManager by) {
      this.by = by;
    }

    void ended() {
      stopped.countDown();
    }

    @Override
    public void stop() {
      if (stopAsked.compareAndSet(false, true)) {
        noLongerWanted(this);
      }
      if (!by.isAtWorkHere()) {
        Uninterruptibly.run(stopped::await);
      }
    }

    @Override
    public void close() {
      stop();
    }

    @Override
    public void awaitStopped() throws InterruptedException {
      stopped.await();
    }

    @Override
    public boolean awaitStopped(Duration atMost) throws InterruptedException {
      return stopped.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
    }
  }
}
