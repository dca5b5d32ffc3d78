package io.sqlstreams.internal.fleet;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;

/**
 * Makes a transaction of a duty one that only the holder of the post can commit. {@link
 * Post#isHeld} is true or false for a moment: a process can be frozen right after it has asked. A
 * transaction that begins with {@link #hold} keeps the post until it ends, whatever happens to its
 * process: nobody else can take the worker before. So two such transactions of one post never
 * overlap.
 *
 * <p>A duty needs this where doing its work twice at once does harm, and not where the work is safe
 * by itself, such as a delete in batches with {@code SKIP LOCKED}. Keep such a transaction short: a
 * crash or a stop hands the worker over no sooner than it ends. A client that says nothing for as
 * long as a lease is cut off by the server, so a frozen process holds nothing up for longer.
 * Thread-safe.
 */
public final class PostFence {
  private final Statement hold;

  /**
   * @param lease how long the server waits for the next statement of such a transaction
   */
  public PostFence(Scope system, Duration lease) {
    this.hold =
        RosterSql.FENCE.after(
            "SET LOCAL idle_in_transaction_session_timeout = " + lease.toMillis(), system);
  }

  /** With the lease of every client. */
  public PostFence(Scope system) {
    this(system, FleetTiming.DEFAULT.lease());
  }

  /**
   * Keeps these posts until the end of the connection's transaction, as far as they are held by
   * now. Waits for no lock. Call it first in the transaction, and work for the answered posts
   * alone.
   *
   * @return the workers that are held
   */
  public Set<Long> hold(Connection connection, Collection<? extends Post> posts)
      throws SQLException {
    try (Call call = hold.on(connection)) {
      ResultSet row =
          call.setArray("tokens", "uuid", posts.stream().map(Post::token).toArray(UUID[]::new))
              .query();
      Set<Long> held = new HashSet<>();
      while (row.next()) {
        held.add(row.getLong("worker_config_id"));
      }
      return held;
    }
  }
}
