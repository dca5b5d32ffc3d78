package io.sqlstreams.internal.position;

import io.sqlstreams.internal.sql.Template;

/** Looks at the ends of a stream's log, and for a moment in it. */
final class PositionSql {
  static final Template EDGES =
      Template.of(
          """
          -- read_edges
          SELECT (SELECT log.id FROM {schema}.message_log_{stream} AS log ORDER BY log.id DESC LIMIT 1) AS newest_id,
                 (SELECT log.created_at FROM {schema}.message_log_{stream} AS log WHERE log.id > :floor ORDER BY log.id LIMIT 1) AS oldest_at,
                 clock_timestamp() AS now
          """);

  /**
   * The first id with a message of this instant or later.
   *
   * <p>The order of the ids is nearly that of time: an id is drawn a moment before its row gets its
   * {@code created_at}. So the ids are halved until one is found whose message is older than the
   * instant by a margin, and none of those that could be the first lies below it. From there on
   * each row is looked at.
   */
  static final Template FIRST_AT =
      Template.of(
          """
          -- find_instant
          WITH RECURSIVE
          search (low, high) AS (
            SELECT :floor::BIGINT, :newest_id::BIGINT
            UNION ALL
            -- what is older than the margin lies at or below low
            SELECT CASE WHEN probe.is_older THEN probe.id ELSE search.low END,
                   CASE WHEN probe.is_older THEN search.high ELSE search.low + (search.high - search.low) / 2 END
            FROM search
            CROSS JOIN LATERAL (
              SELECT log.id,
                     log.created_at < :instant::TIMESTAMPTZ - :margin_minutes * INTERVAL '1 minute' AS is_older
              FROM {schema}.message_log_{stream} AS log
              WHERE log.id > search.low + (search.high - search.low) / 2
              ORDER BY log.id
              LIMIT 1
            ) AS probe
            WHERE search.low < search.high
          )
          SELECT log.id
          FROM {schema}.message_log_{stream} AS log
          WHERE log.id > (SELECT max(search.low) FROM search)
            AND log.created_at >= :instant::TIMESTAMPTZ
          ORDER BY log.id
          LIMIT 1
          """);

  private PositionSql() {}
}
