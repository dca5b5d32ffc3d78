package io.sqlstreams.internal.claim;

import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Takes ranges of the log for one session of a group. Thread-safe. */
public final class Claims {
  private final Database database;
  private final Claimant claimant;
  private final String subject;
  private final BooleanSupplier logs;
  private final Statement claim;
  private final Statement reclaim;
  private final Statement advanceCommitted;

  /**
   * @param subject the group in words, for messages
   * @param logs whether the group keeps a delivery log at the moment
   */
  public Claims(
      Database database, Scope scope, String subject, Claimant claimant, BooleanSupplier logs) {
    this.database = database;
    this.claimant = claimant;
    this.subject = subject;
    this.logs = logs;
    this.claim = ClaimSql.CLAIM.asTransactionByKeys(scope);
    this.reclaim = ClaimSql.RECLAIM.asTransactionByKeys(scope);
    this.advanceCommitted = ClaimSql.ADVANCE_COMMITTED.asRelaxedTransaction(scope);
  }

  /**
   * Takes the next run of the log.
   *
   * @param maxMessages the most messages to take; 0 to look only
   * @param maxBytes the most bytes of payload to take; the first message is taken whatever its size
   * @param held the tokens that the session holds: nothing of its own is reported as expired
   * @param takeSuspect whether the session would take an exception that may have ended a process
   * @throws GroupGoneException when the group or its stream was destroyed
   */
  public Poll claim(int maxMessages, long maxBytes, boolean takeSuspect, Collection<UUID> held) {
    UUID token = UUID.randomUUID();
    try {
      return claim(token, maxMessages, maxBytes, takeSuspect, held);
    } catch (NotInstalledException e) {
      // its tables are gone
      throw new GroupGoneException(subject);
    }
  }

  private Poll claim(
      UUID token, int maxMessages, long maxBytes, boolean takeSuspect, Collection<UUID> held) {
    return database.autoCommitted(
        "claiming for " + subject,
        connection -> {
          try (Call call = claim.on(connection)) {
            bindClaimant(call, token)
                .set("max_messages", maxMessages)
                .set("max_bytes", maxBytes)
                .set("take_suspect", takeSuspect)
                .setArray("held", "uuid", held.toArray());
            return readPoll(call.query(), token);
          }
        });
  }

  /**
   * Takes over one range whose lease has ended.
   *
   * @param held the tokens that the session holds: it doesn't take over from itself
   * @param maxRangeReclaims how often a range is taken over before it is dissolved
   */
  public Reclaim reclaim(Collection<UUID> held, int maxRangeReclaims) {
    UUID token = UUID.randomUUID();
    return database.autoCommitted(
        "taking over a range for " + subject,
        connection -> {
          try (Call call = reclaim.on(connection)) {
            bindClaimant(call, token)
                .set("max_range_reclaims", maxRangeReclaims)
                .setArray("held", "uuid", held.toArray());
            ResultSet row = call.query();
            if (!row.next()) {
              return new Reclaim(false, null, 0);
            }
            long quarantined = row.getLong("quarantined");
            return new Reclaim(true, readRange(row, token), quarantined);
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

  private Call bindClaimant(Call call, UUID token) throws SQLException {
    return call.set("group", claimant.group())
        .set("token", token)
        .set("session", claimant.session())
        .set("logs", logs.getAsBoolean())
        .set("lease_us", claimant.leaseMicros());
  }

  private Poll readPoll(ResultSet row, UUID token) throws SQLException {
    if (!row.next()) {
      throw new GroupGoneException(subject);
    }
    long claimed = row.getLong("claimed");
    boolean isBehind = row.getBoolean("is_behind");
    boolean atGap = row.getBoolean("at_gap");
    boolean committedLags = row.getBoolean("committed_lags");
    long leaseExpires = microsOrNever(row, "lease_expires_us");
    long exceptionDue = microsOrNever(row, "exception_due_us");
    long exceptionExpires = microsOrNever(row, "exception_expires_us");
    long high = row.getLong("high");
    // not compared with "claimed": the group may have been rewound since
    boolean moved = !row.wasNull() && high > row.getLong("low");
    @Nullable ClaimedRange range = moved ? readRange(row, token) : null;
    return new Poll(
        claimed,
        moved,
        range,
        isBehind,
        atGap && !moved,
        committedLags,
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
    List<StoredMessage> messages = new ArrayList<>();
    do {
      StoredMessage message = StoredMessage.read(row);
      if (message != null) {
        messages.add(message);
      }
    } while (row.next());
    messages.sort(Comparator.comparingLong(StoredMessage::id));
    return messages.isEmpty() ? null : new ClaimedRange(token, low, high, messages);
  }

  private static long microsOrNever(ResultSet row, String column) throws SQLException {
    double micros = row.getDouble(column);
    return row.wasNull() ? Poll.NEVER : (long) micros;
  }
}
