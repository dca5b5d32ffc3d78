package io.sqlstreams.internal.upkeep;

import io.sqlstreams.internal.sql.Template;

/**
 * Sweeps: each takes a batch, in one order, and steps over what somebody has locked. So they never
 * wait, and none that runs beside them waits for one in turn.
 */
final class SweepSql {
  /** Removes idempotency keys whose time is over, and tells when the next one's is. */
  static final Template KEYS =
      Template.of(
          """
          -- sweep_idempotency_keys
          WITH
          due AS MATERIALIZED (
            SELECT live.ctid AS place
            FROM {schema}.idempotency_key_{stream} AS live
            WHERE live.created_at < clock_timestamp() - make_interval(secs => :ttl_ns / 1e9)
            ORDER BY live.created_at
            LIMIT :most
            FOR UPDATE SKIP LOCKED
          ),
          swept AS (
            DELETE FROM {schema}.idempotency_key_{stream} AS live
            WHERE live.ctid = ANY (ARRAY(SELECT due.place FROM due))
              -- one that was used again since this statement began isn't the same any more
              AND live.created_at < clock_timestamp() - make_interval(secs => :ttl_ns / 1e9)
            RETURNING live.idempotency_key
          )
          SELECT (SELECT count(*) FROM swept) AS swept,
                 (SELECT extract(epoch FROM clock_timestamp() - live.created_at) * 1000000
                  FROM {schema}.idempotency_key_{stream} AS live
                  WHERE live.created_at >= clock_timestamp() - make_interval(secs => :ttl_ns / 1e9)
                  ORDER BY live.created_at
                  LIMIT 1) AS oldest_us
          """);

  /**
   * Removes exceptions whose messages are given up, of every group. What an attempt holds is left
   * to it. Those that were not dead came after the announcement, when the attempt at them ended; so
   * they are noted now.
   */
  static final Template EXCEPTIONS =
      Template.of(
          """
          -- sweep_exceptions
          WITH
          due AS MATERIALIZED (
            SELECT gone.place
            FROM {schema}.consumer_group_cursor_{stream} AS cursor
            CROSS JOIN LATERAL (
              SELECT exception.ctid AS place
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = cursor.consumer_group_id
                AND exception.message_id <= :floor
                AND (exception.status <> 'inflight' OR exception.lease_expires_at <= now())
              ORDER BY exception.message_id
              LIMIT :most
              FOR UPDATE SKIP LOCKED
            ) AS gone
          ),
          swept AS (
            DELETE FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.ctid = ANY (ARRAY(SELECT due.place FROM due))
              AND exception.message_id <= :floor
              AND (exception.status <> 'inflight' OR exception.lease_expires_at <= now())
            RETURNING exception.consumer_group_id, exception.message_id, exception.status
          ),
          noted AS (
            INSERT INTO {schema}.operation_log_{stream} (consumer_group_id, operation, detail)
            SELECT swept.consumer_group_id, 'retention', jsonb_build_object(
              'floor', :floor::BIGINT, 'messages', count(*), 'in_flight', 0, 'dead', 0,
              'first_id', min(swept.message_id), 'last_id', max(swept.message_id))
            FROM swept
            WHERE swept.status IN ('ready', 'deferred', 'inflight')
            GROUP BY swept.consumer_group_id
          )
          SELECT count(*) AS swept
          FROM swept
          """);

  /** Removes the history of messages that are given up, of every group. */
  static final Template DELIVERIES =
      Template.of(
          """
          -- sweep_deliveries
          WITH
          due AS MATERIALIZED (
            SELECT gone.place
            FROM {schema}.consumer_group_cursor_{stream} AS cursor
            CROSS JOIN LATERAL (
              SELECT delivery.ctid AS place
              FROM {schema}.delivery_log_{stream} AS delivery
              WHERE delivery.consumer_group_id = cursor.consumer_group_id
                AND delivery.message_id <= :floor
              ORDER BY delivery.message_id
              LIMIT :most
              FOR UPDATE SKIP LOCKED
            ) AS gone
          ),
          swept AS (
            DELETE FROM {schema}.delivery_log_{stream} AS delivery
            WHERE delivery.ctid = ANY (ARRAY(SELECT due.place FROM due))
              AND delivery.message_id <= :floor
            RETURNING delivery.id
          )
          SELECT count(*) AS swept
          FROM swept
          """);

  private SweepSql() {}
}
