package io.sqlstreams.internal.client;

import io.sqlstreams.Consumption;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.internal.dispatch.Runner;
import io.sqlstreams.internal.dispatch.Session;
import io.sqlstreams.internal.lease.Heartbeat;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The consumptions of a client, and the pulse that they share. Thread-safe. */
final class Sessions {
  private final Database database;
  private final Scope system;
  private final Heartbeat heartbeat;
  private final Waking waking;
  private final Set<Session> running = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  Sessions(Database database, Scope system, Waking waking) {
    this.database = database;
    this.system = system;
    this.waking = waking;
    this.heartbeat = new Heartbeat(database, waking.listenerBetweenBeats());
  }

  /**
   * @throws ClosedException when the client is closed
   */
  void requireOpen() {
    if (closed) {
      throw new ClosedException("the client");
    }
  }

  /**
   * Begins to consume and returns at once.
   *
   * @param handlers how the handler is run
   * @throws ClosedException when the client is closed, or was meanwhile
   */
  Consumption start(
      StreamInfo stream, GroupInfo group, Runner.Factory handlers, ConsumeOptions options) {
    requireOpen();
    Session session =
        new Session(
            database,
            system.stream(stream.id()),
            heartbeat,
            waking.wakeups(),
            waking.watcher(),
            waking::tell,
            stream,
            group,
            handlers,
            options,
            running::remove);
    waking.begin();
    session.start();
    running.add(session);
    if (session.isStopped()) {
      running.remove(session);
    }
    if (closed) {
      session.stop();
      requireOpen();
    }
    return session;
  }

  /** Stops everything that runs. Idempotent. */
  void close() {
    closed = true;
    List<Session> toStop = List.copyOf(running);
    toStop.forEach(Session::requestStop);
    toStop.forEach(Session::stop);
    heartbeat.stop();
    waking.stopConsuming();
  }
}
