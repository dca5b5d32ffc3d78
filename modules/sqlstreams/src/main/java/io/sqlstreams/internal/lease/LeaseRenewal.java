package io.sqlstreams.internal.lease;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Renews the leases that one session holds of one group. Thread-safe. */
public final class LeaseRenewal {
  /**
   * Which part of a lease a renewal waits for a lock, as a rewind of the stream takes it: there are
   * other leases to renew on the same thread.
   */
  private static final int PATIENCE = 50;

  private final long group;
  private final long leaseMicros;
  private final Statement renew;
  private final Statement renewExceptions;

  /**
   * @param group the group's id
   * @param lease how long a lease outlives its renewal
   */
  public LeaseRenewal(Scope scope, long group, Duration lease) {
    this.group = group;
    this.leaseMicros = lease.toNanos() / 1_000;
    long patience = Math.max(1, lease.toMillis() / PATIENCE);
    this.renew = LeaseSql.RENEW.asImpatientTransaction(patience, scope);
    this.renewExceptions = LeaseSql.RENEW_EXCEPTIONS.asImpatientTransaction(patience, scope);
  }

  /**
   * Renews ranges.
   *
   * @param lows for each token the id up to which everything is done
   * @return the tokens that still exist
   */
  public Set<UUID> renew(Connection connection, Map<UUID, Long> lows) throws SQLException {
    try (Call call = renew.on(connection)) {
      ResultSet row =
          call.setArray("tokens", "uuid", lows.keySet().toArray())
              .setArray("lows", "bigint", lows.values().toArray())
              .set("lease_us", leaseMicros)
              .query();
      Set<UUID> held = new HashSet<>();
      while (row.next()) {
        held.add(row.getObject("token", UUID.class));
      }
      return held;
    }
  }

  /**
   * Renews messages of the exception queue.
   *
   * @param tokens for each message id the token under which it is held
   * @return the ids that are still held
   */
  public Set<Long> renewExceptions(Connection connection, Map<Long, UUID> tokens)
      throws SQLException {
    try (Call call = renewExceptions.on(connection)) {
      ResultSet row =
          call.set("group", group)
              .setArray("message_ids", "bigint", tokens.keySet().toArray())
              .setArray("tokens", "uuid", Set.copyOf(tokens.values()).toArray())
              .set("lease_us", leaseMicros)
              .query();
      Set<Long> held = new HashSet<>();
      while (row.next()) {
        held.add(row.getLong("message_id"));
      }
      return held;
    }
  }
}
