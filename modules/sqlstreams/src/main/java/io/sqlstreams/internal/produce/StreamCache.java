package io.sqlstreams.internal.produce;

import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The log behind a stream's name, remembered for {@link #MAX_AGE}, so that a newer declaration is
 * noticed. A stream that was renamed meanwhile goes on being written to, as long as its log is
 * there. Thread-safe.
 */
final class StreamCache {
  static final Duration MAX_AGE = Duration.ofSeconds(30);

  private final StreamResolver resolver;
  private final Scope system;
  private final Function<Scope, String> announcement;
  private final String name;
  private final ReentrantLock resolving = new ReentrantLock();
  private volatile @Nullable Known known;

  private record Known(TargetLog log, long at) {
    boolean isFresh() {
      return System.nanoTime() - at < MAX_AGE.toNanos();
    }
  }

  private interface Resolution {
    TargetLog get() throws SQLException;
  }

  /**
   * @param announcement what a write in the caller's transaction runs before; empty for none
   */
  StreamCache(
      StreamResolver resolver, Scope system, Function<Scope, String> announcement, String name) {
    this.resolver = resolver;
    this.system = system;
    this.announcement = announcement;
    this.name = name;
  }

  String name() {
    return name;
  }

  /** The log, looked up on a connection of the library's own when it has to be. */
  TargetLog get() {
    try {
      return get(this::resolve);
    } catch (SQLException e) {
      throw new IllegalStateException("only the look-up on the caller's connection throws it", e);
    }
  }

  /**
   * The log, looked up on the caller's connection when it has to be, since the caller may hold the
   * pool's last. What the caller's transaction doesn't see yet, or may not see, is looked up as in
   * {@link #get()}.
   */
  TargetLog get(Connection connection, Bounds bounds) throws SQLException {
    return get(() -> resolveOn(connection, bounds));
  }

  /** The log that has taken the place of one whose tables are gone. */
  TargetLog replace(TargetLog gone) {
    resolving.lock();
    try {
      Known before = known;
      if (before != null && before.log() != gone && before.isFresh()) {
        return before.log(); // another thread was here first
      }
      known = null;
      return remember(resolve());
    } finally {
      resolving.unlock();
    }
  }

  private TargetLog get(Resolution resolution) throws SQLException {
    Known before = known;
    if (before != null && before.isFresh()) {
      return before.log();
    }
    if (before != null && !resolving.tryLock()) {
      return before.log(); // another thread is looking
    }
    if (before == null) {
      resolving.lock();
    }
    try {
      before = known;
      if (before != null && before.isFresh()) {
        return before.log();
      }
      return remember(resolution.get());
    } catch (StreamNotFoundException e) {
      if (before == null) {
        throw e;
      }
      return remember(before.log()); // renamed, or else the write will tell
    } finally {
      resolving.unlock();
    }
  }

  private TargetLog remember(TargetLog log) {
    known = new Known(log, System.nanoTime());
    return log;
  }

  private TargetLog resolve() {
    return new TargetLog(resolver.require(name), system, announcement);
  }

  private TargetLog resolveOn(Connection connection, Bounds bounds) throws SQLException {
    if (bounds.isTransaction()) {
      return new TargetLog(resolver.require(connection, name), system, announcement);
    }
    bounds.begin(connection);
    try {
      TargetLog log = new TargetLog(resolver.require(connection, name), system, announcement);
      bounds.end(connection);
      return log;
    } catch (SQLException e) {
      if (SqlErrors.isConnectionLost(e)) {
        throw e;
      }
      bounds.undo(connection);
    } catch (StreamNotFoundException e) {
      bounds.end(connection);
    }
    return resolve();
  }
}
