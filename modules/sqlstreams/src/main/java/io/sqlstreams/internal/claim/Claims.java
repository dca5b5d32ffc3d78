package io.sqlstreams.internal.claim;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.order.KeySql;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Takes ranges of the log for one session of a group. Thread-safe. */
public final class Claims {
  private final Database database;
  private final Claimant claimant;
  private final String subject;
  private final Reach reach = new Reach();
  private final Statement claim;
  private final Statement claimLocked;
  private final Statement reclaim;
  private final Statement advanceCommitted;

  /**
   * @param subject the group in words, for messages
   */
  public Claims(Database database, Scope scope, String subject, Claimant claimant) {
    this.database = database;
    this.claimant = claimant;
    this.subject = subject;
    this.claim = ClaimSql.CLAIM.asTransactionByKeys(scope);
    this.claimLocked = ClaimSql.CLAIM.behind(KeySql.LOCK_FOR_NEWS).asTransactionByKeys(scope);
    this.reclaim = ClaimSql.RECLAIM.behind(KeySql.LOCK).asTransactionByKeys(scope);
    this.advanceCommitted = ClaimSql.ADVANCE_COMMITTED.asRelaxedTransaction(scope);
  }

  /**
   * Takes the next run of the log.
   *
   * @param maxMessages the most messages to take; 0 to look only
   * @param maxBytes the most bytes of payload to take; the first message is taken whatever its size
   * @param takeSuspect whether the session would take an exception that may have ended a process
   * @param locks whether messages are to be taken that may have to wait for others of their key
   * @throws GroupGoneException when the group or its stream was destroyed
   */
  public Poll claim(
      int maxMessages, long maxBytes, boolean takeSuspect, boolean locks, ClaimTerms terms) {
    UUID token = UUID.randomUUID();
    try {
      return claim(token, maxMessages, maxBytes, takeSuspect, locks, terms);
    } catch (NotInstalledException e) {
      // its tables are gone
      throw new GroupGoneException(subject);
    }
  }

  private Poll claim(
      UUID token,
      int maxMessages,
      long maxBytes,
      boolean takeSuspect,
      boolean locks,
      ClaimTerms terms) {
    int maxScan = reach.of(maxMessages);
    long begin = System.nanoTime();
    return database.autoCommitted(
        "claiming for " + subject,
        connection -> {
          try (Call call = (locks ? claimLocked : claim).on(connection)) {
            bind(call, token, terms)
                .set("max_messages", maxMessages)
                .set("max_scan", maxScan)
                .set("max_bytes", maxBytes)
                .set("take_suspect", takeSuspect);
            ResultSet row = call.query();
            return readPoll(row, token, maxMessages, maxScan, System.nanoTime() - begin);
          }
        });
  }

  /**
   * Takes over one range whose lease has ended.
   *
   * @param maxRangeReclaims how often a range is taken over before it is dissolved
   */
  public Reclaim reclaim(int maxRangeReclaims, ClaimTerms terms) {
    UUID token = UUID.randomUUID();
    return database.autoCommitted(
        "taking over a range for " + subject,
        connection -> {
          try (Call call = reclaim.on(connection)) {
            bind(call, token, terms).set("max_range_reclaims", maxRangeReclaims);
            ResultSet row = call.query();
            if (!row.next()) {
              return new Reclaim(false, null, 0, 0);
            }
            long quarantined = row.getLong("quarantined");
            long deferred = row.getLong("deferred");
            return new Reclaim(true, readRange(row, token), quarantined, deferred);
          }
        });
  }

  /** Moves {@code committed} up to where everything is done. */
  public void advanceCommitted() {
    database.autoCommitted(
        "advancing the position of " + subject,
        connection -> {
          try (Call call = advanceCommitted.on(connection)) {
            return call.set("group", claimant.group()).update();
          }
        });
  }

  private Call bind(Call call, UUID token, ClaimTerms terms) throws SQLException {
    Concurrency override = terms.concurrencyOverride();
    return call.set("group", claimant.group())
        .set("token", token)
        .set("session", claimant.session())
        .set("lease_us", claimant.leaseMicros())
        .set("concurrency", terms.concurrency().sqlName())
        .set("concurrency_override", override == null ? null : override.sqlName())
        .set("logs", terms.deliveryLog() != DeliveryLogMode.OFF)
        .set("logs_deferred", terms.deliveryLog() == DeliveryLogMode.ALL)
        .setArray("held", "uuid", terms.held().toArray())
        .setArray("chained", "uuid", terms.chained().toArray());
  }

  private Poll readPoll(ResultSet row, UUID token, int maxMessages, int maxScan, long nanos)
      throws SQLException {
    if (!row.next()) {
      throw new GroupGoneException(subject);
    }
    long claimed = row.getLong("claimed");
    boolean isBehind = row.getBoolean("is_behind");
    boolean atGap = row.getBoolean("at_gap");
    boolean committedLags = row.getBoolean("committed_lags");
    boolean needsLock = row.getBoolean("needs_lock");
    boolean someWait = row.getBoolean("some_wait");
    long deferred = row.getLong("deferred");
    long leaseExpires = microsOrNever(row, "lease_expires_us");
    long exceptionDue = microsOrNever(row, "exception_due_us");
    long exceptionExpires = microsOrNever(row, "exception_expires_us");
    long high = row.getLong("high");
    // not compared with "claimed": the group may have been rewound since
    boolean moved = !row.wasNull() && high > row.getLong("low");
    int scanned = row.getInt("scanned");
    int passed = row.getInt("passed");
    @Nullable ClaimedRange range = moved ? readRange(row, token) : null;
    if (moved) {
      int taken = range == null ? 0 : range.messages().size();
      reach.ended(maxMessages, maxScan, scanned, passed, taken, nanos);
    }
    return new Poll(
        claimed,
        moved,
        needsLock,
        range,
        isBehind,
        atGap && !moved,
        committedLags,
        deferred,
        someWait,
        leaseExpires,
        exceptionDue,
        exceptionExpires);
  }

  /**
   * Reads the range and its messages from the current row on; null when the rows have no message.
   * They come in order, but nothing in SQL promises that, so it is seen to here.
   */
  private static @Nullable ClaimedRange readRange(ResultSet row, UUID token) throws SQLException {
    long low = row.getLong("low");
    long high = row.getLong("high");
    List<ClaimedMessage> messages = new ArrayList<>();
    do {
      ClaimedMessage message = ClaimedMessage.read(row);
      if (message != null) {
        messages.add(message);
      }
    } while (row.next());
    messages.sort(Comparator.comparingLong(claimed -> claimed.message().id()));
    return messages.isEmpty() ? null : new ClaimedRange(token, low, high, messages);
  }

  private static long microsOrNever(ResultSet row, String column) throws SQLException {
    double micros = row.getDouble(column);
    return row.wasNull() ? Poll.NEVER : (long) micros;
  }
}
