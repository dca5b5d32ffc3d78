package io.sqlstreams.internal.client;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.internal.access.Grants;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.catalog.GroupRegistry;
import io.sqlstreams.internal.catalog.StreamRegistry;
import io.sqlstreams.internal.catalog.SystemRegistry;
import io.sqlstreams.internal.fleet.Declarations;
import io.sqlstreams.internal.fleet.Fleet;
import io.sqlstreams.internal.fleet.WorkerOffice;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.inspect.Lookup;
import io.sqlstreams.internal.inspect.Snapshots;
import io.sqlstreams.internal.inspect.Versions;
import io.sqlstreams.internal.lease.LeaseOffice;
import io.sqlstreams.internal.migration.Migrator;
import io.sqlstreams.internal.operation.ExceptionOffice;
import io.sqlstreams.internal.operation.Rewinder;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.position.Positions;
import io.sqlstreams.internal.produce.PlannedWriter;
import io.sqlstreams.internal.produce.Producers;
import io.sqlstreams.internal.schedule.ScheduleRegistry;
import io.sqlstreams.internal.schema.Installer;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.upkeep.Status;
import io.sqlstreams.internal.upkeep.StreamJanitor;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a client is made of, and every handle works with.
 *
 * @param waking tells consumers of news
 */
record Parts(
    Catalog catalog,
    Migrator migrator,
    Grants grants,
    SystemRegistry systems,
    StreamRegistry streams,
    GroupRegistry groups,
    Producers producers,
    ExecutorService producing,
    Sessions sessions,
    Fleet fleet,
    WorkerOffice workers,
    LeaseOffice leases,
    Snapshots snapshots,
    Lookup lookup,
    Versions versions,
    Heads heads,
    Waking waking,
    ExceptionOffice exceptions,
    Rewinder rewinder,
    ScheduleRegistry schedules,
    StreamJanitor janitor,
    Status upkeep,
    boolean allowDestroy) {
  private static final Logger log = LoggerFactory.getLogger(Parts.class);

  /**
   * How long a close waits for messages that were accepted by {@code produceAsync} and aren't
   * written yet.
   */
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(30);

  static Parts of(Ground ground, Fleet fleet, boolean allowDestroy) {
    Database database = ground.database();
    Scope system = ground.system();
    Catalog catalog = ground.catalog();
    Waking waking = ground.waking();
    Installer installer = new Installer(database, system, ground.steps());
    Partitions partitions = new Partitions(database, system);
    Positions positions = new Positions(system, partitions);
    Declarations workers = new Declarations(system);
    Heads heads = new Heads(database, system);
    ExecutorService producing = Executors.newCachedThreadPool(ProducingThread::new);
    return new Parts(
        catalog,
        new Migrator(database, system, ground.steps(), ground.gate()),
        new Grants(database, system),
        new SystemRegistry(database, system, installer, partitions, catalog, workers),
        new StreamRegistry(database, system, installer, partitions, catalog, workers),
        new GroupRegistry(database, system, installer, catalog, positions),
        new Producers(
            database,
            system,
            new CatalogResolver(catalog),
            partitions::ensureThrough,
            producing,
            waking::tell,
            waking::announcement),
        producing,
        new Sessions(database, system, waking),
        fleet,
        new WorkerOffice(database, system),
        new LeaseOffice(database, system),
        new Snapshots(database, system),
        new Lookup(database, system),
        new Versions(database, system),
        heads,
        waking,
        new ExceptionOffice(database, system, waking::tell),
        new Rewinder(database, system, positions, waking::tell),
        new ScheduleRegistry(
            database,
            system,
            catalog,
            new PlannedWriter(database, system, partitions::ensureThrough),
            waking::tell),
        new StreamJanitor(database, system, partitions, heads),
        new Status(database, system, heads),
        allowDestroy);
  }

  void requireOpen() {
    sessions.requireOpen();
  }

  void requireDestroyAllowed(String subject) {
    requireOpen();
    if (!allowDestroy) {
      throw new DestroyNotAllowedException(subject);
    }
  }

  /** Resolves both names, then does it. */
  <R> R onRegistered(String stream, String group, BiFunction<StreamInfo, GroupInfo, R> verb) {
    requireOpen();
    StreamInfo registered = catalog.requireStream(stream);
    return verb.apply(registered, catalog.requireGroup(registered, group));
  }

  /**
   * Consumers first: their handlers may still produce; so may the background work. Afterwards every
   * future of {@code produceAsync} is completed, unless it takes too long, or one of their
   * continuations is what closes. Idempotent.
   */
  void close() {
    sessions.close();
    fleet.close();
    producers.close(CLOSE_WAIT);
    waking.stop();
    producing.shutdown();
    if (!(Thread.currentThread() instanceof ProducingThread)) {
      awaitContinuations();
    }
  }

  private void awaitContinuations() {
    try {
      if (!producing.awaitTermination(CLOSE_WAIT.toNanos(), TimeUnit.NANOSECONDS)) {
        log.warn("a continuation of produceAsync still runs {} after the close", CLOSE_WAIT);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /** One that writes messages, or runs what users hang on the futures of them. */
  private static final class ProducingThread extends Thread {
    ProducingThread(Runnable task) {
      super(task, "sqlstreams-producer");
      setDaemon(true);
    }
  }
}
