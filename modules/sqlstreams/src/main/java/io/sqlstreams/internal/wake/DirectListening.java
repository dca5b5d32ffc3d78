package io.sqlstreams.internal.wake;

import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Listens on a connection of a data source that is for this alone. Begun with the first {@link
 * #start}; keeps its connection until the stop.
 */
public final class DirectListening {
  private static final long WAIT_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Database database;
  private final Listener listener;
  private final Signal stopping = new Signal();
  private final Loop loop;
  private @Nullable Connection connection;

  /**
   * @param database of the data source to listen on
   */
  public DirectListening(Database database, Listener listener) {
    this.database = database;
    this.listener = listener;
    this.loop = new Loop("sqlstreams-listener", this::turn);
  }

  /** Begins, unless it was begun before. */
  public void start() {
    loop.start();
  }

  /** Ends, and gives the connection back. Idempotent. */
  public void stop() {
    loop.requestStop();
    stopping.set();
    loop.stop();
    release();
  }

  private void turn() throws InterruptedException {
    try {
      Connection current = connect();
      if (listener.isLive()) {
        listener.await(current, WAIT_NANOS);
      } else {
        // a pooler: nothing to hear
        stopping.await(TimeUnit.SECONDS.toNanos(60));
      }
    } catch (SQLException e) {
      release();
      throw SqlErrors.unreachable(e);
    }
  }

  private Connection connect() throws SQLException {
    Connection current = connection;
    if (current == null) {
      current = database.open();
      connection = current;
      current.setNetworkTimeout(Runnable::run, (int) TimeUnit.SECONDS.toMillis(10));
      listener.begin(current);
    }
    return current;
  }

  private void release() {
    Connection current = connection;
    if (current != null) {
      connection = null;
      listener.end(current);
      database.release(current);
    }
  }
}
