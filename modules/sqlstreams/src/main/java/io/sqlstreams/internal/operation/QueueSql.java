package io.sqlstreams.internal.operation;

import io.sqlstreams.internal.sql.Template;

/**
 * Looks at the exception queue, and bulk changes of it. Each walks along the key, in the order of
 * the message ids.
 */
final class QueueSql {
  /** What a filter asks of a row, but for its status and its id. */
  private static final String MATCHES =
      """
      (:message_key::TEXT IS NULL OR exception.message_key = :message_key)
      AND (:error_contains::TEXT IS NULL OR strpos(exception.last_error, :error_contains) > 0)
      AND (:created_from::TIMESTAMPTZ IS NULL OR exception.created_at >= :created_from)
      AND (:created_before::TIMESTAMPTZ IS NULL OR exception.created_at < :created_before)
      """;

  static final Template LIST =
      Template.of(
              """
          -- list_exceptions
          SELECT exception.message_id,
                 exception.status,
                 exception.message_key,
                 exception.attempts,
                 exception.delays,
                 exception.can_run_after,
                 exception.last_error,
                 exception.created_at,
                 exception.updated_at
          FROM {schema}.exception_queue_{stream} AS exception
          WHERE exception.consumer_group_id = :group
            AND exception.message_id > :after
            AND exception.message_id <= :last_id
            AND exception.status = ANY (:statuses)
            AND {matches}
          ORDER BY exception.message_id
          LIMIT :most
          """)
          .withPart("matches", MATCHES);

  /**
   * Makes dead messages ready again, under the lock of the cursor row.
   *
   * <p>{@code committed} goes back below them, since it says that everything at or below is done or
   * dead. A claim that has looked at the queue before would carry it over them again, also where it
   * stood below them all the time; the count of {@code rewinds} makes that look void.
   */
  static final Template REDRIVE =
      Template.of(
              """
          -- redrive_exceptions
          WITH
          chosen AS MATERIALIZED (
            SELECT exception.message_id
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.message_id > :after
              AND exception.message_id <= :last_id
              AND exception.status = 'dead'
              -- the messages up to there are given up, and nothing would be left to deliver
              AND exception.message_id > (SELECT upkeep.floor FROM {schema}.stream_upkeep AS upkeep WHERE upkeep.stream_id = {stream})
              AND {matches}
            ORDER BY exception.message_id
            LIMIT :most
            FOR UPDATE SKIP LOCKED
          ),
          redriven AS (
            UPDATE {schema}.exception_queue_{stream} AS exception
            SET status = 'ready',
                -- the numbers of the attempts go on, but those so far count no more
                forgiven = exception.attempts,
                delays = 0,
                suspect = false,
                can_run_after = now(),
                updated_at = clock_timestamp()
            WHERE exception.consumer_group_id = :group
              AND exception.message_id = ANY (ARRAY(SELECT chosen.message_id FROM chosen))
            RETURNING exception.message_id
          ),
          met AS MATERIALIZED (
            SELECT count(*) AS messages, min(redriven.message_id) AS first_id, max(redriven.message_id) AS last_id
            FROM redriven
          ),
          protected AS (
            UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
            SET committed = least(cursor.committed, met.first_id - 1),
                rewinds = cursor.rewinds + 1
            FROM met
            WHERE cursor.consumer_group_id = :group
              AND met.messages > 0
          ),
          noted AS (
            INSERT INTO {schema}.operation_log_{stream} (consumer_group_id, operation, detail)
            SELECT :group, 'redrive', jsonb_build_object(
              'filter', :filter::JSONB, 'messages', met.messages, 'first_id', met.first_id, 'last_id', met.last_id)
            FROM met
            WHERE met.messages > 0
          )
          SELECT met.messages, met.last_id
          FROM met
          """)
          .withPart("matches", MATCHES);

  /** Removes messages that nobody is at. */
  static final Template DISCARD =
      Template.of(
              """
          -- discard_exceptions
          WITH
          chosen AS MATERIALIZED (
            SELECT exception.message_id
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.message_id > :after
              AND exception.message_id <= :last_id
              AND exception.status = ANY (:statuses)
              AND {matches}
            ORDER BY exception.message_id
            LIMIT :most
            FOR UPDATE SKIP LOCKED
          ),
          discarded AS (
            DELETE FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.message_id = ANY (ARRAY(SELECT chosen.message_id FROM chosen))
            RETURNING exception.message_id, exception.attempts, exception.last_error
          ),
          logged AS (
            INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status, error)
            SELECT :group, discarded.message_id, discarded.attempts, 'superseded',
                   'discarded; its last error: ' || coalesce(discarded.last_error, 'none')
            FROM discarded
            WHERE :log_deliveries
            ORDER BY discarded.message_id
          ),
          met AS MATERIALIZED (
            SELECT count(*) AS messages, min(discarded.message_id) AS first_id, max(discarded.message_id) AS last_id
            FROM discarded
          ),
          noted AS (
            INSERT INTO {schema}.operation_log_{stream} (consumer_group_id, operation, detail)
            SELECT :group, 'discard', jsonb_build_object(
              'filter', :filter::JSONB, 'messages', met.messages, 'first_id', met.first_id, 'last_id', met.last_id)
            FROM met
            WHERE met.messages > 0
          )
          SELECT met.messages, met.last_id
          FROM met
          """)
          .withPart("matches", MATCHES);

  private QueueSql() {}
}
