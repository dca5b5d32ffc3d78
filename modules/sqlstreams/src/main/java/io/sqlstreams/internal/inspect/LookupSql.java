package io.sqlstreams.internal.inspect;

import io.sqlstreams.internal.filter.FilterSql;
import io.sqlstreams.internal.sql.Template;

/** One message, and what has become of it. */
final class LookupSql {
  static final Template MESSAGE =
      Template.of(
          """
          -- look_up_message
          SELECT log.id, log.created_at, log.schema_version, log.routing_key, log.message_key, log.compaction_rank,
                 log.payload, log.headers, log.options
          FROM {schema}.message_log_{stream} AS log
          WHERE log.id = :message_id
          """);

  /** One row for each entry of a group's history, or one for the group. */
  static final Template DELIVERIES =
      Template.of(
              """
          -- look_up_deliveries
          WITH
          standing AS MATERIALIZED (
            SELECT consumer_group.id,
                   consumer_group.name,
                   CASE
                     WHEN cursor.claimed < :message_id THEN 'waiting'
                     WHEN lease.is_among THEN 'claimed'
                   END AS place,
                   -- where an earlier filter held, the lease says it while the range is open, and nothing afterwards
                   NOT coalesce(lease.is_among, cursor.filter_above >= :message_id OR filter.matches) AS is_skipped
            FROM {schema}.consumer_group_config AS consumer_group
            JOIN {schema}.consumer_group_cursor_{stream} AS cursor ON cursor.consumer_group_id = consumer_group.id
            CROSS JOIN LATERAL (
              SELECT {matches} AS matches
              FROM ({filter}) AS filter
              JOIN {schema}.message_log_{stream} AS log ON log.id = :message_id
            ) AS filter
            LEFT JOIN LATERAL (
              SELECT (lease.included IS NULL OR lease.included @> ARRAY[:message_id::BIGINT])
                       AND (lease.excluded IS NULL OR NOT lease.excluded @> ARRAY[:message_id::BIGINT]) AS is_among
              FROM {schema}.claim_lease_{stream} AS lease
              WHERE lease.consumer_group_id = consumer_group.id
                -- every open range is above committed: dead rows of finished ones are not walked over
                AND lease.low >= cursor.committed
                AND lease.low < :message_id
                AND lease.high >= :message_id
                AND cursor.claimed >= :message_id
              LIMIT 1
            ) AS lease ON true
            WHERE consumer_group.stream_id = :stream
          )
          SELECT standing.name,
                 CASE
                   WHEN exception.status IS NULL AND standing.is_skipped THEN 'skipped'
                   ELSE coalesce(standing.place, exception.status, 'passed')
                 END AS state,
                 coalesce(exception.attempts, 0) AS attempts,
                 coalesce(exception.delays, 0) AS delays,
                 exception.last_error,
                 CASE WHEN exception.status = 'ready' THEN exception.can_run_after END AS can_run_after,
                 delivery.attempt,
                 delivery.status AS event,
                 delivery.error,
                 delivery.attempted_at
          FROM standing
          LEFT JOIN {schema}.exception_queue_{stream} AS exception
            ON exception.consumer_group_id = standing.id
            AND exception.message_id = :message_id
            -- what is in the queue of a message that waits or is claimed once more is of an earlier time
            AND standing.place IS NULL
          LEFT JOIN LATERAL (
            SELECT delivery.id, delivery.attempt, delivery.status, delivery.error, delivery.attempted_at
            FROM {schema}.delivery_log_{stream} AS delivery
            WHERE delivery.consumer_group_id = standing.id
              AND delivery.message_id = :message_id
            -- by an order that no index has: the key would be an invitation to walk the log of all messages
            ORDER BY delivery.attempted_at DESC, delivery.id DESC
            LIMIT :most_history
          ) AS delivery ON true
          -- the same order on every server
          ORDER BY standing.name COLLATE "C", delivery.id
          """)
          .withPart("matches", FilterSql.MATCHES)
          .withPart("filter", FilterSql.filterOf("consumer_group.id"));

  private LookupSql() {}
}
