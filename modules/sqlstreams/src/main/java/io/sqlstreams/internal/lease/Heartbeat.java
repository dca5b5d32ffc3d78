package io.sqlstreams.internal.lease;

import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.SqlErrors;
import io.sqlstreams.internal.wake.Listener;
import io.sqlstreams.internal.wake.Signal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The pulse of a process: one thread and one connection that renew the leases of all its sessions.
 * The connection is taken when the first session joins and kept, so neither busy handlers nor an
 * exhausted pool can stop it. Between two beats it listens on that connection, if it is to: a
 * process needs no second one. Thread-safe.
 */
public final class Heartbeat {
  private static final Logger log = LoggerFactory.getLogger(Heartbeat.class);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long MOST_SLACK_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long FIRST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Something that holds leases. */
  public interface Holder {
    /** How often its leases are renewed. */
    Duration interval();

    /** Renews them on this connection, which is in auto-commit mode. */
    void renew(Connection connection) throws SQLException;
  }

  private final Database database;
  private final @Nullable Listener listener;
  private final Map<Holder, Long> nextBeats = new ConcurrentHashMap<>();
  private final Set<Holder> failing = ConcurrentHashMap.newKeySet();
  private final Signal changed = new Signal();
  private final Loop loop;
  private @Nullable Connection connection;
  private boolean stopping;
  private long connectAt = System.nanoTime();
  private long connectPause = FIRST_PAUSE_NANOS;

  /**
   * @param listener listens between two beats; null: nobody does
   */
  public Heartbeat(Database database, @Nullable Listener listener) {
    this.database = database;
    this.listener = listener;
    this.loop = new Loop("sqlstreams-heartbeat", this::turn);
  }

  /**
   * Renews this one's leases from now on. The connection is there when this returns.
   *
   * @throws ClosedException after {@link #stop}
   */
  public void join(Holder holder) {
    synchronized (this) {
      if (stopping) {
        throw new ClosedException("the client");
      }
      nextBeats.put(holder, System.nanoTime() + holder.interval().toNanos());
    }
    try {
      connect();
    } catch (SqlStreamsException e) {
      nextBeats.remove(holder);
      throw e;
    }
    loop.start();
    changed.set();
  }

  /** Renews them no more; gives the connection back with the last one. */
  public void leave(Holder holder) {
    nextBeats.remove(holder);
    failing.remove(holder);
    changed.set();
  }

  /** Ends the pulse: at once when nothing is held any more, else when the last one has left. */
  public void stop() {
    synchronized (this) {
      stopping = true;
    }
    changed.set();
    if (nextBeats.isEmpty()) {
      loop.stop();
      disconnect();
    }
  }

  private void turn() throws InterruptedException {
    if (isIdle()) {
      return;
    }
    rest(nanosToNextBeat());
    for (Map.Entry<Holder, Long> entry : nextBeats.entrySet()) {
      if (entry.getValue() - System.nanoTime() <= slackNanos(entry.getKey())) {
        beat(entry.getKey());
      }
    }
  }

  /** So much early it may be: the beats of many sessions are done together. */
  private static long slackNanos(Holder holder) {
    return Math.min(MOST_SLACK_NANOS, holder.interval().toNanos() / 10);
  }

  /** Until the next beat, or for a while at most. */
  private void rest(long nanos) throws InterruptedException {
    if (listener == null || nextBeats.isEmpty()) {
      changed.await(nanos);
      return;
    }
    Connection current = connectionToListenOn();
    if (current == null) {
      changed.await(Math.min(nanos, connectAt - System.nanoTime()));
    } else if (!listener.isLive()) {
      changed.await(nanos);
    } else {
      try {
        current.setNetworkTimeout(Runnable::run, networkTimeoutMillis());
        listener.await(current, nanos);
      } catch (SQLException e) {
        log.debug("the connection broke while it listened", e);
        disconnect();
      }
    }
  }

  /** A connection that was lost is replaced at once, not with the next beat. */
  private @Nullable Connection connectionToListenOn() {
    Connection current = current();
    if (current != null || listener == null || connectAt - System.nanoTime() > 0) {
      return current;
    }
    try {
      current = connect();
      connectPause = FIRST_PAUSE_NANOS;
    } catch (SqlStreamsException e) {
      log.debug("no connection yet: {}", e.getMessage());
      connectAt = System.nanoTime() + connectPause;
      connectPause = Math.min(LONGEST_PAUSE_NANOS, 2 * connectPause);
    }
    return current;
  }

  private synchronized @Nullable Connection current() {
    return connection;
  }

  private void beat(Holder holder) {
    long pause = holder.interval().toNanos();
    try {
      Connection current = connect();
      // a connection that answers no more must not hold up the others for long
      current.setNetworkTimeout(Runnable::run, networkTimeoutMillis(holder));
      holder.renew(current);
      failing.remove(holder);
    } catch (SQLException | SqlStreamsException e) {
      if (!(e instanceof SQLException refused && SqlErrors.isContention(refused) && goOn())) {
        disconnect();
      }
      // soon, but not at once
      pause = pause / 10;
      if (failing.add(holder)) {
        log.warn("leases were not renewed: {}; trying again until they are", e.getMessage());
      } else {
        log.debug("leases were not renewed again: {}", e.getMessage());
      }
    }
    long next = System.nanoTime() + pause;
    nextBeats.computeIfPresent(holder, (key, planned) -> next);
  }

  /** Keeps the connection for the others: there may be none in its place. */
  private synchronized boolean goOn() {
    try {
      if (connection != null) {
        Database.rollBackByStatement(connection);
      }
      return true;
    } catch (SQLException e) {
      return false;
    }
  }

  private int networkTimeoutMillis() {
    return nextBeats.keySet().stream()
        .mapToInt(Heartbeat::networkTimeoutMillis)
        .min()
        .orElse(1_000);
  }

  private static int networkTimeoutMillis(Holder holder) {
    return (int) Math.max(1_000, Math.min(60_000, holder.interval().toMillis()));
  }

  private long nanosToNextBeat() {
    long now = System.nanoTime();
    return nextBeats.values().stream().mapToLong(at -> at - now).min().orElse(IDLE_NANOS);
  }

  private synchronized Connection connect() {
    Connection current = connection;
    if (current == null) {
      current = database.open();
      connection = current;
      listen(current);
    }
    return current;
  }

  private void listen(Connection opened) {
    if (listener != null) {
      try {
        listener.begin(opened);
      } catch (SQLException e) {
        disconnect();
        throw SqlErrors.unreachable(e);
      }
    }
  }

  /** Whether this turn has nothing to wait for: the last one has left, and there is a stop. */
  private synchronized boolean isIdle() {
    if (nextBeats.isEmpty()) {
      disconnect();
      if (stopping) {
        loop.requestStop();
        return true;
      }
    }
    return false;
  }

  private synchronized void disconnect() {
    Connection current = connection;
    if (current != null) {
      connection = null;
      if (listener != null) {
        listener.end(current);
      }
      database.release(current);
    }
  }
}
