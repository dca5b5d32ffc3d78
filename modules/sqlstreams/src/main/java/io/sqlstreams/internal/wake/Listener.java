package io.sqlstreams.internal.wake;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.postgresql.PGConnection;
import org.postgresql.PGNotification;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hears what other processes tell, on a connection that somebody else keeps for it, in auto-commit
 * mode: so it is never in a transaction, and never holds up the server's queue of notifications.
 * The connection is used by one thread at a time; the rest is thread-safe.
 */
public final class Listener {
  private static final Logger log = LoggerFactory.getLogger(Listener.class);

  /**
   * How long one wait for notifications lasts at most: nothing else that concerns the waiting
   * thread can end it.
   */
  private static final long SLICE_MILLIS = 50;

  /** How long a connection may be silent before it is asked whether it is still there. */
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final String channel;
  private final Statement listen;
  private final Statement unlisten;
  private final Statement backend;
  private final Wakeups wakeups;
  private final Runnable changed;
  private final AtomicLong losses = new AtomicLong();
  private volatile boolean live;
  private volatile boolean lost;
  private volatile boolean refused;
  private long checkedAt;

  /**
   * @param system the installation
   * @param wakeups is told what is heard
   * @param changed is run when it begins or ceases to hear
   */
  public Listener(Scope system, Wakeups wakeups, Runnable changed) {
    this.channel = "sqlstreams." + system.schema();
    this.listen = WakeSql.LISTEN.in(system);
    this.unlisten = WakeSql.UNLISTEN.in(system);
    this.backend = WakeSql.BACKEND.in(system);
    this.wakeups = wakeups;
    this.changed = changed;
  }

  /** Whether it hears. */
  public boolean isLive() {
    return live;
  }

  /** How often a connection was lost on which it listened. */
  public long losses() {
    return losses.get();
  }

  /**
   * Begins to listen on this connection, unless what is told doesn't reach it: a pooler that gives
   * a server's session to somebody else after each transaction. What was told before counts as
   * missed.
   *
   * @throws SQLException when the connection is broken
   */
  public void begin(Connection connection) throws SQLException {
    PGConnection driver;
    try {
      driver = connection.unwrap(PGConnection.class);
    } catch (SQLException e) {
      refuse(
          "the connections of the data source can't be unwrapped to those of PostgreSQL's driver");
      return;
    }
    if (driver.getBackendPID() != backendPid(connection)) {
      refuse("the data source leads through a pooler");
      return;
    }
    listen.run(connection);
    checkedAt = System.nanoTime();
    live = true;
    if (lost) {
      lost = false;
      log.info("listening again; every group looks once for what was told meanwhile");
    }
    wakeups.wakeAll();
    changed.run();
  }

  private void refuse(String reason) {
    if (!refused) {
      refused = true;
      log.warn(
          "{}, so this process can't listen and looks for messages itself, as often as pollInterval says:"
              + " give the builder a direct data source to listen on (listenOn), or switch notifications off",
          reason);
    }
  }

  /**
   * Waits for notifications, for a short while at most, and wakes whom they concern.
   *
   * @throws SQLException when the connection is broken
   */
  public void await(Connection connection, long nanos) throws SQLException {
    // never 0, which would be for ever
    long millis = Math.max(1, Math.min(SLICE_MILLIS, TimeUnit.NANOSECONDS.toMillis(nanos)));
    hear(connection.unwrap(PGConnection.class).getNotifications((int) millis));
    if (System.nanoTime() - checkedAt >= CHECK_NANOS) {
      backendPid(connection);
      checkedAt = System.nanoTime();
    }
  }

  private void hear(PGNotification[] notifications) {
    for (PGNotification notification : notifications) {
      // somebody else may have listened to something else on it
      if (notification.getName().equals(channel)) {
        wake(notification.getParameter());
      }
    }
  }

  private void wake(String payload) {
    try {
      wakeups.wake(Long.parseLong(payload));
    } catch (NumberFormatException e) {
      log.debug("a notification that isn't one of this library");
    }
  }

  /** Leaves the connection as it was, if it still works. */
  public void end(Connection connection) {
    if (!live) {
      return;
    }
    live = false;
    try {
      unlisten.run(connection);
    } catch (SQLException e) {
      lost = true;
      losses.incrementAndGet();
      log.warn("the connection that listens was lost: {}; a new one is on its way", e.getMessage());
    }
    changed.run();
  }

  private int backendPid(Connection connection) throws SQLException {
    try (Call call = backend.on(connection)) {
      ResultSet row = call.query();
      row.next();
      return row.getInt("pid");
    }
  }
}
