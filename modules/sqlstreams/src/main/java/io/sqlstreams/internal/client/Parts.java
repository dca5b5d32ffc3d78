package io.sqlstreams.internal.client;

import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.catalog.GroupRegistry;
import io.sqlstreams.internal.catalog.StreamRegistry;
import io.sqlstreams.internal.catalog.SystemRegistry;
import io.sqlstreams.internal.lease.LeaseOffice;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.produce.Producers;
import io.sqlstreams.internal.schema.Installer;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.wake.Wakeups;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** What a client is made of, and every handle works with. */
record Parts(
    Catalog catalog,
    SystemRegistry systems,
    StreamRegistry streams,
    GroupRegistry groups,
    Producers producers,
    ExecutorService producing,
    Sessions sessions,
    LeaseOffice leases,
    boolean allowDestroy) {
  /**
   * How long a close waits for messages that were accepted by {@code produceAsync} and aren't
   * written yet.
   */
  private static final Duration CLOSE_WAIT = Duration.ofSeconds(30);

  static Parts of(Database database, Scope system, Wakeups wakeups, boolean allowDestroy) {
    Installer installer = new Installer(database, system);
    Partitions partitions = new Partitions(database, system);
    Catalog catalog = new Catalog(database, system);
    ExecutorService producing = Executors.newCachedThreadPool(Parts::producingThread);
    return new Parts(
        catalog,
        new SystemRegistry(database, system, installer, partitions, catalog),
        new StreamRegistry(database, system, installer, partitions, catalog),
        new GroupRegistry(database, system, installer, catalog),
        new Producers(
            database,
            system,
            new CatalogResolver(catalog),
            partitions::ensureThrough,
            producing,
            wakeups::wake),
        producing,
        new Sessions(database, system, wakeups),
        new LeaseOffice(database, system),
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

  /** Consumers first: their handlers may still produce. Idempotent. */
  void close() {
    sessions.close();
    producers.close(CLOSE_WAIT);
    producing.shutdown();
  }

  private static Thread producingThread(Runnable task) {
    Thread thread = new Thread(task, "sqlstreams-producer");
    thread.setDaemon(true);
    return thread;
  }
}
