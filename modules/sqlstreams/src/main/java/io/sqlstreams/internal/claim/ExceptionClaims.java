package io.sqlstreams.internal.claim;

import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.order.KeySql;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Takes messages of the exception queue for one session of a group. Thread-safe. */
public final class ExceptionClaims {
  private static final int MAX_WOKEN_KEYS = 1_000;

  private final Database database;
  private final Claimant claimant;
  private final String subject;
  private final Statement claimDue;
  private final Statement expired;
  private final Statement wake;

  /**
   * @param subject the group in words, for messages
   */
  public ExceptionClaims(Database database, Scope scope, String subject, Claimant claimant) {
    this.database = database;
    this.claimant = claimant;
    this.subject = subject;
    this.claimDue = ExceptionSql.CLAIM_DUE.behind(KeySql.LOCK).asTransactionByKeys(scope);
    this.expired = ExceptionSql.EXPIRED.asTransactionByKeys(scope);
    this.wake = ExceptionSql.WAKE.behind(KeySql.LOCK).asTransactionByKeys(scope);
  }

  /**
   * Takes messages whose time has come; each has a lease of its own, all under one token.
   *
   * @param maxMessages how many at most
   * @param takeSuspect whether one may be among them, or beside them, that may have ended a process
   * @param withFollowers whether with the first of a key those may come that wait behind it
   */
  public List<ClaimedException> claimDue(
      int maxMessages, boolean takeSuspect, boolean withFollowers) {
    UUID token = UUID.randomUUID();
    return database.autoCommitted(
        "claiming exceptions for " + subject,
        connection -> {
          try (Call call = claimDue.on(connection)) {
            ResultSet row =
                call.set("group", claimant.group())
                    .set("token", token)
                    .set("lease_us", claimant.leaseMicros())
                    .set("max_messages", maxMessages)
                    .set("take_suspect", takeSuspect)
                    .set("with_followers", withFollowers)
                    .query();
            List<ClaimedException> taken = new ArrayList<>();
            while (row.next()) {
              taken.add(
                  new ClaimedException(
                      token,
                      row.getLong("message_id"),
                      row.getString("queue_key"),
                      ClaimedMessage.concurrency(row),
                      row.getInt("attempts"),
                      row.getInt("delays"),
                      row.getInt("forgiven"),
                      row.getBoolean("suspect"),
                      row.getBoolean("is_version_read"),
                      StoredMessage.read(row),
                      row.getObject("winner", Long.class)));
            }
            return taken;
          }
        });
  }

  /**
   * Up to so many attempts whose lease has run out.
   *
   * @param held the tokens that the session holds: its own attempts aren't among them
   */
  public List<ExpiredAttempt> expired(int maxMessages, Collection<UUID> held) {
    return database.autoCommitted(
        "looking for lost attempts of " + subject,
        connection -> {
          try (Call call = expired.on(connection)) {
            ResultSet row =
                call.set("group", claimant.group())
                    .set("max_messages", maxMessages)
                    .setArray("held", "uuid", held.toArray())
                    .query();
            List<ExpiredAttempt> found = new ArrayList<>();
            while (row.next()) {
              found.add(
                  new ExpiredAttempt(
                      row.getObject("lease_token", UUID.class),
                      row.getLong("message_id"),
                      row.getString("message_key"),
                      row.getInt("attempts"),
                      row.getInt("delays"),
                      row.getInt("forgiven"),
                      row.getBoolean("suspect"),
                      ClaimedMessage.concurrency(row),
                      row.getBoolean("is_follower"),
                      row.getString("options")));
            }
            return found;
          }
        });
  }

  /**
   * Announces the turn of messages that wait though nothing holds their key any more.
   *
   * @param after the last key that was visited; null to begin
   * @return the last key that was visited now, to go on behind it; null when there are no more
   */
  public @Nullable String wake(@Nullable String after) {
    return database.autoCommitted(
        "waking waiting messages of " + subject,
        connection -> {
          try (Call call = wake.on(connection)) {
            ResultSet row =
                call.set("group", claimant.group())
                    .set("after_key", after == null ? "" : after)
                    .set("after_id", after == null ? 0 : Long.MAX_VALUE)
                    .set("max_keys", MAX_WOKEN_KEYS)
                    .query();
            row.next();
            return row.getString("last_key");
          }
        });
  }
}
