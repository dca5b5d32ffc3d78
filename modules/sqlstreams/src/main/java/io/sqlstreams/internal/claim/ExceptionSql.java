package io.sqlstreams.internal.claim;

import io.sqlstreams.internal.sql.Template;

/** The claim of messages in the exception queue. Each has a lease of its own. */
final class ExceptionSql {
  /**
   * Takes messages whose time has come. Of those whose last process is gone one at most, and that
   * only if the session has none of them yet: so when this process goes too, it is known which of
   * them to blame.
   */
  static final Template CLAIM_DUE =
      Template.of(
          """
          -- claim_due_exceptions
          WITH
          ordinary AS MATERIALIZED (
            SELECT exception.message_id
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.status = 'ready'
              AND NOT exception.suspect
              AND exception.can_run_after <= now()
            ORDER BY exception.can_run_after, exception.message_id
            LIMIT :max_messages
            FOR UPDATE SKIP LOCKED
          ),
          suspect AS MATERIALIZED (
            SELECT exception.message_id
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.status = 'ready'
              AND exception.suspect
              AND exception.can_run_after <= now()
              AND :take_suspect
            ORDER BY exception.can_run_after, exception.message_id
            LIMIT 1
            FOR UPDATE SKIP LOCKED
          ),
          due AS MATERIALIZED (
            SELECT ordinary.message_id FROM ordinary
            UNION ALL
            SELECT suspect.message_id FROM suspect
          ),
          taken AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = 'inflight',
                lease_token = :token,
                lease_expires_at = clock_timestamp() + :lease_us * INTERVAL '1 microsecond',
                updated_at = clock_timestamp()
            WHERE exception.consumer_group_id = :group
              -- an array, so that even a plan made for an empty table uses both columns of the key
              AND exception.message_id = ANY (ARRAY(SELECT due.message_id FROM due))
            RETURNING exception.message_id, exception.attempts, exception.delays, exception.suspect
          )
          SELECT taken.message_id,
                 taken.attempts,
                 taken.delays,
                 taken.suspect,
                 message.id,
                 message.created_at,
                 message.schema_version,
                 message.routing_key,
                 message.message_key,
                 message.payload,
                 message.headers,
                 message.options
          FROM taken
          LEFT JOIN LATERAL (
            SELECT log.id, log.created_at, log.schema_version, log.routing_key, log.message_key, log.payload, log.headers, log.options
            FROM {schema}.message_log_{stream} AS log
            -- not by equality: that could become a scan of the partition in a plan that was made while it was empty
            WHERE log.id >= taken.message_id
            ORDER BY log.id
            LIMIT 1
          ) AS message ON message.id = taken.message_id
          ORDER BY taken.message_id
          """);

  /**
   * Ends the attempts of sessions that are gone. The first time that is nobody's fault, but the
   * message is suspected from then on, and runs alone among its like; the next time it counts as a
   * failure.
   */
  static final Template EXPIRE =
      Template.of(
          """
          -- expire_exceptions
          WITH
          expired AS MATERIALIZED (
            SELECT exception.message_id, exception.attempts, CASE WHEN exception.suspect THEN 1 ELSE 0 END AS counts
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.status = 'inflight'
              AND exception.lease_expires_at <= now()
              AND exception.lease_token <> ALL (:held)
            ORDER BY exception.lease_expires_at, exception.message_id
            LIMIT :max_messages
            FOR UPDATE SKIP LOCKED
          ),
          ended AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = CASE WHEN exception.attempts + expired.counts - exception.delays > :max_retries THEN 'dead' ELSE 'ready' END,
                attempts = exception.attempts + expired.counts,
                suspect = true,
                can_run_after = clock_timestamp() + expired.counts * :backoff_us * INTERVAL '1 microsecond',
                last_error = 'the lease ran out: the process is gone or was cut off from the database',
                lease_token = NULL,
                lease_expires_at = NULL,
                updated_at = clock_timestamp()
            FROM expired
            WHERE exception.consumer_group_id = :group
              AND exception.message_id = ANY (ARRAY(SELECT expired.message_id FROM expired))
              AND exception.message_id = expired.message_id
            RETURNING exception.message_id, expired.attempts AS attempt, exception.last_error, exception.status
          ),
          logged AS (
            INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status, error)
            SELECT :group, ended.message_id, ended.attempt, 'expired', ended.last_error
            FROM ended
          )
          SELECT count(*) AS expired,
                 count(*) FILTER (WHERE ended.status = 'dead') AS dead
          FROM ended
          """);

  private ExceptionSql() {}
}
