package io.sqlstreams.internal.outcome;

import io.sqlstreams.internal.sql.Template;

/**
 * The recording of results. Each change of state is guarded by the token of the lease under which
 * the message was handled.
 */
final class OutcomeSql {
  /** Ends ranges in which every message is done. A token that doesn't come back was lost. */
  static final Template FINISH_CLEAN =
      Template.of(
          """
          -- finish_clean_ranges
          DELETE FROM {schema}.claim_lease_{stream} AS lease
          WHERE lease.token = ANY (:tokens)
          RETURNING lease.token
          """);

  /**
   * Ends ranges and puts what isn't done into the exception queue, with its history. With {@code
   * :rest_tokens} and {@code :rest_lows} ranges are given back instead, down to where they were
   * begun: nobody's any more, and free at once.
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
          given_back AS (
            UPDATE {schema}.claim_lease_{stream} AS lease
            SET low = greatest(lease.low, rest.low),
                -- a heartbeat that is on its way must not find it
                token = gen_random_uuid(),
                session = NULL,
                expires_at = now()
            FROM unnest(:rest_tokens::UUID[], :rest_lows::BIGINT[]) AS rest (token, low)
            WHERE lease.token = ANY (:rest_tokens)
              AND lease.token = rest.token
            RETURNING rest.token
          ),
          held AS (
            SELECT ended.token FROM ended
            UNION ALL
            SELECT given_back.token FROM given_back
          ),
          failure AS MATERIALIZED (
            SELECT result.message_id, result.message_key, result.status, result.event, result.attempts, result.delays, result.wait_us, result.error
            FROM unnest(
              :result_tokens::UUID[], :message_ids::BIGINT[], :message_keys::TEXT[], :statuses::TEXT[], :events::TEXT[],
              :attempts::INT[], :delays::INT[], :waits_us::BIGINT[], :errors::TEXT[])
              AS result (token, message_id, message_key, status, event, attempts, delays, wait_us, error)
            WHERE result.token IN (SELECT held.token FROM held)
          ),
          queued AS (
            INSERT INTO {schema}.exception_queue_{stream}
              (consumer_group_id, message_id, status, message_key, concurrency, attempts, delays, can_run_after, last_error)
            SELECT :group, failure.message_id, failure.status, failure.message_key, 'parallel', failure.attempts, failure.delays,
                   clock_timestamp() + failure.wait_us * INTERVAL '1 microsecond', failure.error
            FROM failure
            -- one row that is there already must not stop the others
            ON CONFLICT (consumer_group_id, message_id) DO NOTHING
          ),
          logged AS (
            INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status, error)
            SELECT :group, failure.message_id, failure.attempts - 1, failure.event, failure.error
            FROM failure
          )
          SELECT held.token
          FROM held
          """);

  /** Ends attempts at messages of the exception queue: done ones leave it. */
  static final Template FINISH_EXCEPTIONS =
      Template.of(
          """
          -- finish_exceptions
          WITH
          result AS MATERIALIZED (
            SELECT result.message_id, result.token, result.status, result.event, result.attempts, result.delays, result.wait_us, result.error
            FROM unnest(
              :message_ids::BIGINT[], :result_tokens::UUID[], :statuses::TEXT[], :events::TEXT[], :attempts::INT[],
              :delays::INT[], :waits_us::BIGINT[], :errors::TEXT[])
              AS result (message_id, token, status, event, attempts, delays, wait_us, error)
          ),
          mine AS MATERIALIZED (
            -- in one order, so that two sessions never wait for each other
            SELECT exception.message_id
            FROM {schema}.exception_queue_{stream} AS exception
            JOIN result ON result.message_id = exception.message_id AND result.token = exception.lease_token
            WHERE exception.consumer_group_id = :group
              AND exception.message_id = ANY (:message_ids)
            ORDER BY exception.message_id
            FOR UPDATE OF exception
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
            RETURNING exception.message_id
          ),
          kept AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = result.status,
                attempts = result.attempts,
                delays = result.delays,
                can_run_after = clock_timestamp() + result.wait_us * INTERVAL '1 microsecond',
                last_error = coalesce(result.error, exception.last_error),
                -- its process is still there
                suspect = exception.suspect AND result.event IS NULL,
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
            RETURNING exception.message_id, result.event, result.attempts, result.error
          ),
          logged AS (
            INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status, error)
            SELECT :group, kept.message_id, kept.attempts - 1, kept.event, kept.error
            FROM kept
            -- without an event the message was given back unbegun
            WHERE kept.event IS NOT NULL
          )
          SELECT done.message_id FROM done
          UNION ALL
          SELECT kept.message_id FROM kept
          """);

  private OutcomeSql() {}
}
