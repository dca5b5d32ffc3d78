package io.sqlstreams.internal.client;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.internal.access.Grants;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.catalog.GroupRegistry;
import io.sqlstreams.internal.catalog.StreamRegistry;
import io.sqlstreams.internal.catalog.SystemRegistry;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.inspect.Lookup;
import io.sqlstreams.internal.inspect.Snapshots;
import io.sqlstreams.internal.inspect.Versions;
import io.sqlstreams.internal.lease.LeaseOffice;
import io.sqlstreams.internal.migration.Gate;
import io.sqlstreams.internal.migration.Migrator;
import io.sqlstreams.internal.operation.ExceptionOffice;
import io.sqlstreams.internal.operation.Rewinder;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.position.Positions;
import io.sqlstreams.internal.produce.Producers;
import io.sqlstreams.internal.schema.Installer;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.wake.Wakeups;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.LongConsumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a client is made of, and every handle works with.
 *
 * @param wake wakes this process's consumers of a stream, by its id, after a commit
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
    LeaseOffice leases,
    Snapshots snapshots,
    Lookup lookup,
    Versions versions,
    Heads heads,
    LongConsumer wake,
    ExceptionOffice exceptions,
    Rewinder rewinder,
    boolean allowDestroy) {
  private static final Logger log = LoggerFactory.getLogger(Parts.class);

  /**
   * How long a close waits for messages that were accepted by {@code produceAsync} and aren't
   * written yet.
   */
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(30);

  static Parts of(
      Database database, Scope system, Wakeups wakeups, boolean allowDestroy, Steps steps) {
    Installer installer = new Installer(database, system, steps);
    Gate gate = new Gate(system, steps);
    Partitions partitions = new Partitions(database, system);
    Catalog catalog = new Catalog(database, system, gate);
    Positions positions = new Positions(system, partitions);
    ExecutorService producing = Executors.newCachedThreadPool(ProducingThread::new);
    return new Parts(
        catalog,
        new Migrator(database, system, steps, gate),
        new Grants(database, system),
        new SystemRegistry(database, system, installer, partitions, catalog),
        new StreamRegistry(database, system, installer, partitions, catalog),
        new GroupRegistry(database, system, installer, catalog, positions),
        new Producers(
            database,
            system,
            new CatalogResolver(catalog),
            partitions::ensureThrough,
            producing,
            wakeups::wake),
        producing,
        new Sessions(database, system, catalog, wakeups),
        new LeaseOffice(database, system),
        new Snapshots(database, system),
        new Lookup(database, system),
        new Versions(database, system),
        new Heads(database, system),
        wakeups::wake,
        new ExceptionOffice(database, system, wakeups::wake),
        new Rewinder(database, system, positions, wakeups::wake),
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
   * Consumers first: their handlers may still produce. Afterwards every future of {@code
   * produceAsync} is completed, unless it takes too long, or one of their continuations is what
   * closes. Idempotent.
   */
  void close() {
    sessions.close();
    producers.close(CLOSE_WAIT);
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
