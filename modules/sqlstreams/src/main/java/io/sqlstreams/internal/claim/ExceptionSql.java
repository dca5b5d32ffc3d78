package io.sqlstreams.internal.claim;

import io.sqlstreams.internal.filter.FilterSql;
import io.sqlstreams.internal.order.KeySql;
import io.sqlstreams.internal.sql.Template;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The claim of messages in the exception queue. Each has a lease of its own. */
final class ExceptionSql {
  /**
   * Takes messages whose time has come. Of those whose last process is gone one at most, and that
   * only if the session has none of them yet: so when this process goes too, it is known which of
   * them to blame.
   *
   * <p>One whose key is held waits until its turn is announced. With the first of a key come those
   * that wait right behind it, up to the next that doesn't: they are handed out one after the
   * other.
   */
  static final Template CLAIM_DUE =
      Template.of(
              """
          -- claim_due_exceptions
          WITH
          filter AS MATERIALIZED (
            {filter}
          ),
          ordinary AS MATERIALIZED (
            SELECT exception.ctid AS place, exception.message_id, exception.message_key, exception.concurrency, exception.forgiven
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
            SELECT exception.ctid AS place, exception.message_id, exception.message_key, exception.concurrency, exception.forgiven
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
            SELECT ordinary.place, ordinary.message_id, ordinary.message_key, ordinary.concurrency, ordinary.forgiven, true AS leads
            FROM ordinary
            UNION ALL
            SELECT suspect.place, suspect.message_id, suspect.message_key, suspect.concurrency, suspect.forgiven, false
            FROM suspect
          ),
          candidate AS MATERIALIZED (
            SELECT due.place, due.message_id, due.message_key, due.concurrency, due.forgiven, due.leads,
                   row_number() OVER (PARTITION BY due.message_key ORDER BY due.message_id) AS place_in_key
            FROM due
            WHERE due.concurrency <> 'parallel'
          ),
          judged AS MATERIALIZED (
            SELECT candidate.place, candidate.message_id, candidate.message_key, candidate.concurrency, candidate.leads,
                   open.first_id,
                   candidate.place_in_key > 1 OR {busy} AS is_busy,
                   -- it waits for one that waits for nothing
                   CASE
                     WHEN candidate.place_in_key = 1
                       AND open.first_id IS NULL
                       AND inflight.message_id IS NULL
                       AND deferred.message_id < candidate.message_id
                       AND coalesce(deferred.message_id < ready.message_id, true)
                     THEN deferred.message_id
                   END AS front
            FROM candidate
            {holders}
          ),
          -- its turn was announced to nobody: a later one was running when it came, and comes again itself
          passed_on AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = 'ready',
                can_run_after = now(),
                updated_at = clock_timestamp()
            WHERE exception.consumer_group_id = :group
              AND exception.status = 'deferred'
              AND exception.message_id = ANY (ARRAY(SELECT judged.front FROM judged WHERE judged.front IS NOT NULL))
          ),
          put_aside AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = 'deferred',
                updated_at = clock_timestamp()
            WHERE exception.ctid = ANY (ARRAY(SELECT judged.place FROM judged WHERE judged.is_busy))
          ),
          behind AS MATERIALIZED (
            SELECT judged.message_key, next.message_id, next.suspect, next.place
            FROM judged
            CROSS JOIN LATERAL (
              SELECT exception.message_id, exception.suspect, exception.ctid AS place
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = :group
                AND (exception.message_key, exception.message_id) > (judged.message_key, judged.message_id)
                AND exception.message_key <= judged.message_key
                AND exception.message_key IS NOT NULL
                AND exception.status = 'deferred'
                -- up to one that waits for a time, or that a session holds in a range
                AND exception.message_id < coalesce(least(
                  judged.first_id,
                  (SELECT other.message_id
                   FROM {schema}.exception_queue_{stream} AS other
                   WHERE other.consumer_group_id = :group
                     AND (other.message_key, other.message_id) > (judged.message_key, judged.message_id)
                     AND other.message_key <= judged.message_key
                     AND other.message_key IS NOT NULL
                     AND other.status = 'ready'
                   ORDER BY other.message_key, other.message_id
                   LIMIT 1)),
                  9223372036854775807)
              ORDER BY exception.message_key, exception.message_id
              LIMIT (SELECT greatest(0, :max_messages / count(*) - 1) FROM judged WHERE NOT judged.is_busy)
              FOR UPDATE
            ) AS next
            WHERE :with_followers
              AND judged.leads
              AND NOT judged.is_busy
          ),
          follower AS MATERIALIZED (
            SELECT behind.place
            FROM behind
            -- one that is suspected runs alone, so those behind it wait
            WHERE NOT EXISTS (
              SELECT
              FROM behind AS before
              WHERE before.message_key = behind.message_key
                AND before.message_id <= behind.message_id
                AND before.suspect)
          ),
          taken AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = 'inflight',
                lease_token = :token,
                lease_expires_at = clock_timestamp() + :lease_us * INTERVAL '1 microsecond',
                updated_at = clock_timestamp()
            -- the rows that were just locked: by key, a plan made for a few rows would read all of the group's. One that
            -- changed since this statement began isn't found, and is taken the next time
            WHERE exception.ctid = ANY (ARRAY(
              SELECT due.place FROM due WHERE due.concurrency = 'parallel'
              UNION ALL
              SELECT judged.place FROM judged WHERE NOT judged.is_busy
              UNION ALL
              SELECT follower.place FROM follower))
            RETURNING exception.message_id, exception.attempts, exception.delays, exception.forgiven, exception.suspect, exception.concurrency,
                      exception.message_key
          )
          SELECT taken.message_id,
                 -- it isn't run any more
                 {winner} AS winner,
                 taken.attempts,
                 taken.delays,
                 taken.forgiven,
                 taken.suspect,
                 taken.concurrency,
                 taken.message_key AS queue_key,
                 coalesce(message.schema_version = ANY (
                   (SELECT cursor.schema_versions
                    FROM {schema}.consumer_group_cursor_{stream} AS cursor
                    WHERE cursor.consumer_group_id = :group)::INT[]), true) AS is_version_read,
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
          .withPart("winner", SupersededSql.WINNER)
          .withPart("filter", FilterSql.FILTER)
          .withPart("matches", FilterSql.MATCHES)
          // the messages of one key in this session's own ranges count too
          .withPart("holders", KeySql.holders("'{}'::UUID[]"))
          .withPart("busy", KeySql.BUSY);

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
                 exception.concurrency,
                 message.options,
                 -- it was taken along, but an earlier one of its key had not ended
                 exception.concurrency <> 'parallel' AND {follows} AS is_follower
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
          """)
          .withPart("follows", follows());

  /**
   * Announces the turn of messages that wait though nothing holds their key any more: of whoever
   * waits in front in each key. Usually the end of the message before does that. Keys are visited
   * in their order, up to so many.
   */
  static final Template WAKE =
      Template.of(
              """
          -- wake_waiting_keys
          WITH RECURSIVE
          visited AS (
            (SELECT exception.message_key, exception.message_id, 1 AS place
             FROM {schema}.exception_queue_{stream} AS exception
             WHERE exception.consumer_group_id = :group
               AND exception.message_key IS NOT NULL
               AND (exception.message_key, exception.message_id) > (:after_key::TEXT, :after_id::BIGINT)
               AND exception.status = 'deferred'
             ORDER BY exception.message_key, exception.message_id
             LIMIT 1)
            UNION ALL
            SELECT next.message_key, next.message_id, visited.place + 1
            FROM visited
            CROSS JOIN LATERAL (
              SELECT exception.message_key, exception.message_id
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = :group
                AND exception.message_key IS NOT NULL
                AND exception.message_key > visited.message_key
                AND exception.status = 'deferred'
              ORDER BY exception.message_key, exception.message_id
              LIMIT 1
            ) AS next
            WHERE visited.place < :max_keys
          ),
          candidate AS MATERIALIZED (
            SELECT exception.message_id, exception.message_key, exception.concurrency, exception.forgiven
            FROM visited
            JOIN {schema}.exception_queue_{stream} AS exception
              ON exception.consumer_group_id = :group
              AND exception.message_id = visited.message_id
          ),
          woken AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = 'ready',
                can_run_after = now(),
                updated_at = clock_timestamp()
            WHERE exception.consumer_group_id = :group
              AND exception.status = 'deferred'
              AND exception.message_id = ANY (ARRAY(
                SELECT candidate.message_id
                FROM candidate
                {holders}
                WHERE NOT {busy}))
            RETURNING exception.message_id
          )
          SELECT (SELECT count(*) FROM woken) AS woken,
                 (SELECT max(visited.message_key) FROM visited WHERE visited.place = :max_keys) AS last_key
          """)
          .withPart("holders", KeySql.holders("'{}'::UUID[]"))
          .withPart("busy", KeySql.BUSY);

  /** Whether an earlier message of its key is unresolved. */
  private static String follows() {
    return Stream.of("ready", "inflight", "deferred")
        .map(
            status ->
                "coalesce((SELECT earlier.message_id FROM ("
                    + KeySql.first("exception", status)
                    + ") AS earlier) < exception.message_id, false)")
        .collect(Collectors.joining(" OR ", "(", ")"));
  }

  private ExceptionSql() {}
}
