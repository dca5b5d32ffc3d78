package io.sqlstreams.internal.wake;

import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the other processes of news: the first at once, those that follow within {@value
 * #PAUSE_MILLIS} ms together, however many there are. On a thread of its own with a connection for
 * each statement, so producers wait neither for it nor for the lock of the whole database that a
 * notification takes at its commit. What can't be sent is dropped: the others look for themselves.
 * Thread-safe.
 */
public final class Notifier {
  private static final Logger log = LoggerFactory.getLogger(Notifier.class);
  private static final int PAUSE_MILLIS = 2;

  /**
   * A notification must not become the work of a database that is slow: it has a fifth of the time.
   */
  private static final int SHARE = 4;

  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Database database;
  private final Statement notify;
  private final Set<Long> marked = ConcurrentHashMap.newKeySet();
  private final Signal news = new Signal();
  private final Loop loop;
  private volatile boolean started;

  /**
   * @param system the installation
   */
  public Notifier(Database database, Scope system) {
    this.database = database;
    this.notify = WakeSql.NOTIFY.in(system);
    this.loop = new Loop("sqlstreams-notifier", this::turn);
  }

  /** Others are to be told of this stream; returns at once. */
  public void mark(long stream) {
    if (marked.add(stream)) {
      if (!started) {
        started = true;
        loop.start();
      }
      news.set();
    }
  }

  /** Sends what is marked, and ends. Idempotent. */
  public void stop() {
    loop.requestStop();
    news.set();
    loop.stop();
    send();
  }

  private void turn() throws InterruptedException {
    if (marked.isEmpty()) {
      news.await(IDLE_NANOS);
      return;
    }
    long begin = System.nanoTime();
    send();
    long took = System.nanoTime() - begin;
    TimeUnit.NANOSECONDS.sleep(Math.max(TimeUnit.MILLISECONDS.toNanos(PAUSE_MILLIS), SHARE * took));
  }

  private void send() {
    Long[] streams = marked.toArray(Long[]::new);
    if (streams.length == 0) {
      return;
    }
    // before the statement: what is marked from now on is told again
    marked.removeAll(Set.of(streams));
    try {
      database.autoCommitted(
          "notifying consumers",
          connection -> {
            try (Call call = notify.on(connection)) {
              return call.setArray("streams", "bigint", streams).query();
            }
          });
    } catch (SqlStreamsException e) {
      log.debug("{} streams were not notified: {}", streams.length, e.getMessage());
    }
  }
}
