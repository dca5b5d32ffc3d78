package io.sqlstreams.internal.lease;

import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.wake.Signal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pulse of a process: one thread and one connection that renew the leases of all its sessions. The connection is taken
 * when the first session joins and kept, so neither busy handlers nor an exhausted pool can stop it. Thread-safe.
 */
public final class Heartbeat {
  private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  /** Something that holds leases. */
  public interface Holder {
    /** How often its leases are renewed. */
    Duration interval();

    /** Renews them on this connection, which is in auto-commit mode. */
    void renew(Connection connection) throws SQLException;
  }

  private final Database database;
  private final Map<Holder, Long> nextBeats = new ConcurrentHashMap<>();
  private final Signal joined = new Signal();
  private final Loop loop;
  private @Nullable Connection connection;

  public Heartbeat(Database database) {
    this.database = database;
    this.loop = new Loop("sqlstreams-heartbeat", this::turn);
  }

  /** Renews this one's leases from now on. The connection is there when this returns. */
  public void join(Holder holder) {
    connect();
    nextBeats.put(holder, System.nanoTime() + holder.interval().toNanos());
    loop.start();
    joined.set();
  }

  /** Renews them no more; gives the connection back with the last one. */
  public void leave(Holder holder) {
    nextBeats.remove(holder);
    joined.set();
  }

  /** Ends the pulse. */
  public void stop() {
    loop.requestStop();
    joined.set();
    loop.stop();
    disconnect();
  }

  private void turn() throws InterruptedException {
    if (nextBeats.isEmpty()) {
      disconnectUnlessJoined();
    }
    joined.await(nanosToNextBeat());
    for (Map.Entry<Holder, Long> entry : nextBeats.entrySet()) {
      if (entry.getValue() - System.nanoTime() <= 0) {
        beat(entry.getKey());
      }
    }
  }

  private void beat(Holder holder) {
    long pause = holder.interval().toNanos();
    try {
      holder.renew(connect());
    } catch (SQLException | SqlStreamsException e) {
      disconnect();
      // soon, but not at once
      pause = pause / 10;
      log.warn("leases were not renewed: {}; trying again on a new connection", e.getMessage());
    }
    long next = System.nanoTime() + pause;
    nextBeats.computeIfPresent(holder, (key, planned) -> next);
  }

  private long nanosToNextBeat() {
    long now = System.nanoTime();
    return nextBeats.values().stream().mapToLong(at -> at - now).min().orElse(IDLE_NANOS);
  }

  private synchronized Connection connect() {
    if (connection == null) {
      connection = database.open();
    }
    return connection;
  }

  private synchronized void disconnectUnlessJoined() {
    if (nextBeats.isEmpty()) {
      disconnect();
    }
  }

  private synchronized void disconnect() {
    if (connection != null) {
      Database.release(connection);
      connection = null;
    }
  }
}
