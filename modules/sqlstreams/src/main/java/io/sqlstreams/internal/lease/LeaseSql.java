package io.sqlstreams.internal.lease;

import io.sqlstreams.internal.sql.Template;

/** The renewal of leases: one statement for everything that a session holds of a group. */
final class LeaseSql {
  /**
   * Renews what the session holds, and moves {@code low} up over what is done, so that a crash
   * repeats little. Rows that somebody is working on are passed over: they are being completed or
   * taken away. Gives the tokens that still exist.
   */
  static final Template RENEW =
      Template.of(
          """
          -- renew_leases
          WITH
          held AS MATERIALIZED (
            SELECT held.token, held.low
            FROM unnest(:tokens::UUID[], :lows::BIGINT[]) AS held (token, low)
          ),
          free AS MATERIALIZED (
            SELECT lease.token
            FROM {schema}.claim_lease_{stream} AS lease
            WHERE lease.token = ANY (:tokens)
            FOR UPDATE SKIP LOCKED
          ),
          renewed AS (
            UPDATE {schema}.claim_lease_{stream} AS lease
            SET expires_at = clock_timestamp() + :lease_us * INTERVAL '1 microsecond',
                low = greatest(lease.low, held.low)
            FROM free
            JOIN held USING (token)
            WHERE lease.token = ANY (:tokens)
              AND lease.token = free.token
          )
          SELECT lease.token
          FROM {schema}.claim_lease_{stream} AS lease
          WHERE lease.token = ANY (:tokens)
          """);

  /**
   * The same for single messages of the exception queue. Gives the ids that are still held under
   * one of these tokens.
   */
  static final Template RENEW_EXCEPTIONS =
      Template.of(
          """
          -- renew_exception_leases
          WITH
          free AS MATERIALIZED (
            SELECT exception.message_id
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.message_id = ANY (:message_ids)
              AND exception.lease_token = ANY (:tokens)
            FOR UPDATE SKIP LOCKED
          ),
          renewed AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET lease_expires_at = clock_timestamp() + :lease_us * INTERVAL '1 microsecond'
            WHERE exception.consumer_group_id = :group
              -- arrays, not joins: a plan that was made for a few rows would compare each with each
              AND exception.message_id = ANY (ARRAY(SELECT free.message_id FROM free))
              AND exception.lease_token = ANY (:tokens)
          )
          SELECT exception.message_id
          FROM {schema}.exception_queue_{stream} AS exception
          WHERE exception.consumer_group_id = :group
            AND exception.message_id = ANY (:message_ids)
            AND exception.lease_token = ANY (:tokens)
          """);

  /** What is held of a group's log. */
  static final Template LIST =
      Template.of(
          """
          -- list_leases
          SELECT lease.session, lease.low, lease.high, lease.expires_at, lease.reclaims
          FROM {schema}.claim_lease_{stream} AS lease
          WHERE lease.consumer_group_id = :group
          ORDER BY lease.low
          """);

  /** Ends leases from outside. The new token makes late results of their holder fail. */
  static final Template RELEASE =
      Template.of(
          """
          -- release_leases
          UPDATE {schema}.claim_lease_{stream} AS lease
          SET token = gen_random_uuid(),
              expires_at = now()
          WHERE lease.token = ANY (ARRAY(
            SELECT mine.token
            FROM {schema}.claim_lease_{stream} AS mine
            WHERE mine.consumer_group_id = :group
              AND mine.session = :session
            ORDER BY mine.token
            FOR UPDATE))
          """);

  private LeaseSql() {}
}
