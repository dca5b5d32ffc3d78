package io.sqlstreams.internal.outcome;

import io.sqlstreams.internal.order.KeySql;
import io.sqlstreams.internal.sql.Template;

/**
 * The recording of results. Each change of state is guarded by the token of the lease under which
 * the message was handled.
 */
final class OutcomeSql {
  /** Ends ranges of which nothing is to be written. A token that doesn't come back was lost. */
  static final Template FINISH_CLEAN =
      Template.of(
          """
          -- finish_clean_ranges
          DELETE FROM {schema}.claim_lease_{stream} AS lease
          WHERE lease.token = ANY (:tokens)
          RETURNING lease.token
          """);

  /**
   * Ends ranges, puts what isn't done into the exception queue, and writes the history. With {@code
   * :rest_tokens} and {@code :rest_lows} only the beginning of a range ends: the rest is kept under
   * the same lease, or given back, nobody's any more and free at once.
   */
  static final Template FINISH =
      Template.of(
              """
          -- finish_ranges
          WITH
          ended AS (
            DELETE FROM {schema}.claim_lease_{stream} AS lease
            WHERE lease.token = ANY (:tokens)
            RETURNING lease.token
          ),
          shortened AS (
            UPDATE {schema}.claim_lease_{stream} AS lease
            SET low = greatest(lease.low, rest.low),
                -- a heartbeat that is on its way must not find what is given back
                token = CASE WHEN :keep_rest THEN lease.token ELSE gen_random_uuid() END,
                session = CASE WHEN :keep_rest THEN lease.session END,
                expires_at = CASE WHEN :keep_rest THEN lease.expires_at ELSE now() END
            FROM unnest(:rest_tokens::UUID[], :rest_lows::BIGINT[]) AS rest (token, low)
            WHERE lease.token = ANY (:rest_tokens)
              AND lease.token = rest.token
              -- a commit whose answer was lost may have happened all the same; then these results are there already
              AND (NOT :keep_rest OR lease.low < rest.low)
            RETURNING rest.token
          ),
          held AS (
            SELECT ended.token FROM ended
            UNION ALL
            SELECT shortened.token FROM shortened
          ),
          result AS MATERIALIZED (
            SELECT result.message_id, result.message_key, result.concurrency, result.status, result.event, result.attempt, result.attempts, result.delays,
                   result.wait_us, result.error
            FROM unnest(
              :result_tokens::UUID[], :message_ids::BIGINT[], :message_keys::TEXT[], :concurrencies::TEXT[], :statuses::TEXT[], :events::TEXT[],
              :attempt_numbers::INT[], :attempts::INT[], :delays::INT[], :waits_us::BIGINT[], :errors::TEXT[])
              AS result (token, message_id, message_key, concurrency, status, event, attempt, attempts, delays, wait_us, error)
            WHERE result.token IN (SELECT held.token FROM held)
          ),
          queued AS (
            INSERT INTO {schema}.exception_queue_{stream}
              (consumer_group_id, message_id, status, message_key, concurrency, attempts, delays, can_run_after, last_error)
            SELECT :group, result.message_id, result.status, result.message_key, result.concurrency, result.attempts, result.delays,
                   clock_timestamp() + result.wait_us * INTERVAL '1 microsecond', result.error
            FROM result
            WHERE result.status <> 'done'
            -- one row that is there already must not stop the others
            ON CONFLICT (consumer_group_id, message_id) DO NOTHING
          ),
          logged AS (
            INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status, error)
            SELECT :group, result.message_id, result.attempt, result.event, result.error
            FROM result
            WHERE :logs
              AND result.event IS NOT NULL
            ORDER BY result.message_id
          ),
          woken AS (
            {wake}
          )
          SELECT held.token
          FROM held
          """)
          .withPart("wake", KeySql.WAKE);

  /** Ends attempts at messages of the exception queue: done ones leave it. */
  static final Template FINISH_EXCEPTIONS =
      Template.of(
              """
          -- finish_exceptions
          WITH
          result AS MATERIALIZED (
            SELECT result.message_id, result.token, result.line, result.status, result.event, result.attempt, result.attempts, result.delays,
                   result.wait_us, result.error
            FROM unnest(
              :message_ids::BIGINT[], :result_tokens::UUID[], :lines::TEXT[], :statuses::TEXT[], :events::TEXT[], :attempt_numbers::INT[],
              :attempts::INT[], :delays::INT[], :waits_us::BIGINT[], :errors::TEXT[])
              AS result (message_id, token, line, status, event, attempt, attempts, delays, wait_us, error)
          ),
          locked AS MATERIALIZED (
            -- in one order, so that two sessions never wait for each other
            SELECT exception.message_id
            FROM {schema}.exception_queue_{stream} AS exception
            JOIN result ON result.message_id = exception.message_id AND result.token = exception.lease_token
            WHERE exception.consumer_group_id = :group
              AND exception.message_id = ANY (:message_ids)
              -- a lease that was found to have run out may have been renewed since
              AND (result.event IS DISTINCT FROM 'expired' OR exception.lease_expires_at <= now())
            ORDER BY exception.message_id
            FOR UPDATE OF exception
          ),
          mine AS MATERIALIZED (
            SELECT ended.message_id
            FROM (
              SELECT locked.message_id,
                     -- of messages that follow each other none ends before an earlier one that was lost
                     result.line IS NULL
                       OR bool_and(locked.message_id IS NOT NULL) OVER (PARTITION BY result.line ORDER BY result.message_id) AS in_turn
              FROM result
              LEFT JOIN locked ON locked.message_id = result.message_id
            ) AS ended
            WHERE ended.message_id IS NOT NULL
              AND ended.in_turn
          ),
          done AS (
            DELETE FROM {schema}.exception_queue_{stream} AS exception
            USING mine
            JOIN result USING (message_id)
            WHERE exception.consumer_group_id = :group
              AND exception.message_id = ANY (:message_ids)
              AND exception.message_id = mine.message_id
              AND exception.lease_token = result.token
              AND result.status = 'done'
            RETURNING exception.message_id, result.event, result.attempt, result.error
          ),
          kept AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = result.status,
                attempts = result.attempts,
                delays = result.delays,
                can_run_after = clock_timestamp() + result.wait_us * INTERVAL '1 microsecond',
                last_error = coalesce(result.error, exception.last_error),
                -- an attempt that was made and has ended shows that the process outlives it
                suspect = coalesce(result.event = 'expired' OR result.event = 'deferred' AND exception.suspect, exception.suspect),
                lease_token = NULL,
                lease_expires_at = NULL,
                updated_at = clock_timestamp()
            FROM mine
            JOIN result USING (message_id)
            WHERE exception.consumer_group_id = :group
              AND exception.message_id = ANY (:message_ids)
              AND exception.message_id = mine.message_id
              AND exception.lease_token = result.token
              AND result.status <> 'done'
            RETURNING exception.message_id, result.event, result.attempt, result.error
          ),
          held AS (
            SELECT done.message_id, done.event, done.attempt, done.error FROM done
            UNION ALL
            SELECT kept.message_id, kept.event, kept.attempt, kept.error FROM kept
          ),
          logged AS (
            INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status, error)
            SELECT :group, held.message_id, held.attempt, held.event, held.error
            FROM held
            WHERE :logs
              -- without an event the message was given back unbegun
              AND held.event IS NOT NULL
            ORDER BY held.message_id
          ),
          woken AS (
            {wake}
          )
          SELECT held.message_id
          FROM held
          """)
          .withPart("wake", KeySql.WAKE);

  /** Whether these messages of a range, or this one of the exception queue, are still to end. */
  static final Template IS_HELD =
      Template.of(
          """
          -- is_held
          SELECT
            EXISTS (
              SELECT
              FROM {schema}.claim_lease_{stream} AS lease
              WHERE lease.token = :token
                AND lease.low < :last_id)
            OR EXISTS (
              SELECT
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = :group
                AND exception.message_id = :last_id
                AND exception.lease_token = :token) AS is_held
          """);

  private OutcomeSql() {}
}
