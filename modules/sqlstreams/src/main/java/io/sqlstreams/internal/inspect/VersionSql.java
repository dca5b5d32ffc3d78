package io.sqlstreams.internal.inspect;

import io.sqlstreams.internal.filter.FilterSql;
import io.sqlstreams.internal.sql.Template;

/** What each schema version is still needed for. */
final class VersionSql {
  /**
   * One row for each version and group. No payload is read, and no more of the log than what each
   * group has still to read, up to a limit; there is no index by version, so a version that only
   * messages have that every group has passed isn't found, unless it is that of the first or the
   * last message.
   */
  static final Template VERSIONS =
      Template.of(
              """
          -- list_versions
          WITH
          standing AS MATERIALIZED (
            SELECT consumer_group.id,
                   consumer_group.name,
                   cursor.claimed,
                   cursor.committed,
                   cursor.schema_versions
            FROM {schema}.consumer_group_config AS consumer_group
            JOIN {schema}.consumer_group_cursor_{stream} AS cursor ON cursor.consumer_group_id = consumer_group.id
            WHERE consumer_group.stream_id = :stream
          ),
          unclaimed AS MATERIALIZED (
            SELECT standing.id AS group_id, walk.schema_version, walk.matches
            FROM standing
            CROSS JOIN LATERAL (
              {filter}
            ) AS filter
            CROSS JOIN LATERAL (
              SELECT log.schema_version, {matches} AS matches
              FROM {schema}.message_log_{stream} AS log
              WHERE log.id > standing.claimed
              ORDER BY log.id
              LIMIT :count_limit
            ) AS walk
          ),
          held AS MATERIALIZED (
            SELECT standing.id AS group_id, message.schema_version
            FROM standing
            JOIN {schema}.claim_lease_{stream} AS lease
              ON lease.consumer_group_id = standing.id
              -- every open range is above committed: dead rows of finished ones are not walked over
              AND lease.low >= standing.committed
              AND lease.low < standing.claimed
            CROSS JOIN LATERAL (
              SELECT log.id, log.schema_version
              FROM {schema}.message_log_{stream} AS log
              WHERE log.id > lease.low
              ORDER BY log.id
              -- as in claim_range: no upper bound, it was seen to be checked row by row; there can't be more messages than ids
              LIMIT lease.high - lease.low
            ) AS message
            WHERE message.id <= least(lease.high, standing.claimed)
              AND (lease.included IS NULL OR message.id = ANY (lease.included))
              AND (lease.excluded IS NULL OR message.id <> ALL (lease.excluded))
          ),
          queued AS MATERIALIZED (
            SELECT standing.id AS group_id, walk.message_id, false AS is_dead
            FROM standing
            CROSS JOIN LATERAL (
              SELECT exception.message_id
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = standing.id
                AND exception.status IN ('ready', 'inflight', 'deferred')
              ORDER BY exception.message_id
              LIMIT :count_limit
            ) AS walk
            UNION ALL
            SELECT standing.id, walk.message_id, true
            FROM standing
            CROSS JOIN LATERAL (
              SELECT exception.message_id
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = standing.id
                AND exception.status = 'dead'
              ORDER BY exception.message_id
              LIMIT :count_limit
            ) AS walk
          ),
          counted AS MATERIALIZED (
            SELECT part.group_id,
                   part.schema_version AS version,
                   sum(part.unread) AS unread,
                   sum(part.waiting) AS waiting,
                   sum(part.dead) AS dead
            FROM (
              SELECT unclaimed.group_id, unclaimed.schema_version, 1 AS unread, 0 AS waiting, 0 AS dead
              FROM unclaimed
              WHERE unclaimed.matches
              UNION ALL
              SELECT held.group_id, held.schema_version, 1, 0, 0
              FROM held
              UNION ALL
              SELECT queued.group_id,
                     message.schema_version,
                     0,
                     CASE WHEN queued.is_dead THEN 0 ELSE 1 END,
                     CASE WHEN queued.is_dead THEN 1 ELSE 0 END
              FROM queued
              CROSS JOIN LATERAL (
                SELECT log.id, log.schema_version
                FROM {schema}.message_log_{stream} AS log
                -- not by equality: a join of so many could become a scan of the whole log
                WHERE log.id >= queued.message_id
                ORDER BY log.id
                LIMIT 1
              ) AS message
              -- what the log has lost can't be delivered
              WHERE message.id = queued.message_id
            ) AS part
            GROUP BY part.group_id, part.schema_version
          ),
          bounded AS MATERIALIZED (
            SELECT standing.id AS group_id,
                   (SELECT count(*) FROM unclaimed WHERE unclaimed.group_id = standing.id) < :count_limit AS is_read_through,
                   (SELECT greatest(count(*) FILTER (WHERE queued.is_dead), count(*) FILTER (WHERE NOT queued.is_dead))
                    FROM queued
                    WHERE queued.group_id = standing.id) < :count_limit AS is_queue_counted
            FROM standing
          ),
          head AS MATERIALIZED (
            SELECT head.schema_version AS version, count(*) AS heads
            FROM {schema}.compaction_head_{stream} AS head
            WHERE head.message_id IS NOT NULL
            GROUP BY head.schema_version
          ),
          version AS (
            SELECT counted.version FROM counted
            UNION
            SELECT unnest(standing.schema_versions) FROM standing
            UNION
            SELECT head.version FROM head
            UNION
            (SELECT log.schema_version FROM {schema}.message_log_{stream} AS log ORDER BY log.id LIMIT 1)
            UNION
            (SELECT log.schema_version FROM {schema}.message_log_{stream} AS log ORDER BY log.id DESC LIMIT 1)
          )
          SELECT version.version,
                 coalesce(head.heads, 0) AS heads,
                 ARRAY(SELECT key.compaction_key
                       FROM {schema}.compaction_head_{stream} AS key
                       WHERE key.schema_version = head.version
                         AND key.message_id IS NOT NULL
                       ORDER BY key.compaction_key
                       LIMIT :most_keys) AS head_keys,
                 standing.name,
                 standing.schema_versions IS NULL OR version.version = ANY (standing.schema_versions) AS is_read,
                 coalesce(counted.unread, 0) AS unread,
                 coalesce(counted.waiting, 0) AS waiting,
                 coalesce(counted.dead, 0) AS dead,
                 bounded.is_queue_counted
                   -- of a version that it doesn't read nothing is left, however long the rest is
                   AND (bounded.is_read_through OR version.version <> ALL (standing.schema_versions)) IS TRUE AS is_exact
          FROM version
          LEFT JOIN head ON head.version = version.version
          LEFT JOIN standing ON true
          LEFT JOIN bounded ON bounded.group_id = standing.id
          LEFT JOIN counted ON counted.group_id = standing.id AND counted.version = version.version
          -- the same order on every server
          ORDER BY version.version, standing.name COLLATE "C"
          """)
          .withPart("filter", FilterSql.filterOf("standing.id"))
          .withPart("matches", FilterSql.MATCHES);

  private VersionSql() {}
}
