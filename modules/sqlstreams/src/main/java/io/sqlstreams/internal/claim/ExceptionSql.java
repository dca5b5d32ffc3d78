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
            SELECT exception.ctid AS place
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.status IN ('ready', 'deferred')
              AND NOT exception.suspect
              AND exception.can_run_after <= now()
            ORDER BY exception.can_run_after, exception.message_id
            LIMIT :max_messages
            FOR UPDATE SKIP LOCKED
          ),
          suspect AS MATERIALIZED (
            SELECT exception.ctid AS place
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.status IN ('ready', 'deferred')
              AND exception.suspect
              AND exception.can_run_after <= now()
              AND :take_suspect
            ORDER BY exception.can_run_after, exception.message_id
            LIMIT 1
            FOR UPDATE SKIP LOCKED
          ),
          due AS MATERIALIZED (
            SELECT ordinary.place FROM ordinary
            UNION ALL
            SELECT suspect.place FROM suspect
          ),
          taken AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = 'inflight',
                lease_token = :token,
                lease_expires_at = clock_timestamp() + :lease_us * INTERVAL '1 microsecond',
                updated_at = clock_timestamp()
            -- the rows that were just locked: by key, a plan made for a few rows would read all of the group's. One that
            -- changed since this statement began isn't found, and is taken the next time
            WHERE exception.ctid = ANY (ARRAY(SELECT due.place FROM due))
            RETURNING exception.message_id, exception.attempts, exception.delays, exception.forgiven, exception.suspect
          )
          SELECT taken.message_id,
                 -- it isn't run any more
                 {winner} AS winner,
                 taken.attempts,
                 taken.delays,
                 taken.forgiven,
                 taken.suspect,
                 message.id,
                 message.created_at,
                 message.schema_version,
                 message.routing_key,
                 message.message_key,
                 message.compaction_rank,
                 message.payload,
                 message.headers,
                 message.options
          FROM taken
          LEFT JOIN LATERAL (
            SELECT log.id, log.created_at, log.schema_version, log.routing_key, log.message_key, log.compaction_rank, log.payload,
                   log.headers, log.options
            FROM {schema}.message_log_{stream} AS log
            -- not by equality: that could become a scan of the partition in a plan that was made while it was empty
            WHERE log.id >= taken.message_id
            ORDER BY log.id
            LIMIT 1
          ) AS message ON message.id = taken.message_id
          ORDER BY taken.message_id
          """)
          .withPart("winner", SupersededSql.WINNER);

  /** Attempts whose sessions are gone. Nothing is locked: whoever ends them does it by token. */
  static final Template EXPIRED =
      Template.of(
          """
          -- list_expired_exceptions
          SELECT exception.message_id,
                 exception.lease_token,
                 exception.message_key,
                 exception.attempts,
                 exception.delays,
                 exception.forgiven,
                 exception.suspect,
                 message.options
          FROM {schema}.exception_queue_{stream} AS exception
          LEFT JOIN LATERAL (
            SELECT log.id, log.options
            FROM {schema}.message_log_{stream} AS log
            -- as in claim_due_exceptions
            WHERE log.id >= exception.message_id
            ORDER BY log.id
            LIMIT 1
          ) AS message ON message.id = exception.message_id
          WHERE exception.consumer_group_id = :group
            AND exception.status = 'inflight'
            AND exception.lease_expires_at <= now()
            AND exception.lease_token <> ALL (:held)
          ORDER BY exception.lease_expires_at, exception.message_id
          LIMIT :max_messages
          """);

  private ExceptionSql() {}
}
