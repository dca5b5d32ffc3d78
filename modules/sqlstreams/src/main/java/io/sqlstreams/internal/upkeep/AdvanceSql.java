package io.sqlstreams.internal.upkeep;

import io.sqlstreams.internal.sql.Template;

/** The position of groups that claim nothing, and what groups that are gone have left behind. */
final class AdvanceSql {
  static final Template STREAMS =
      Template.of(
          """
          -- list_stream_ids
          SELECT stream.id
          FROM {schema}.stream_config AS stream
          ORDER BY stream.id
          """);

  /** One stream's part of a look at many: whether a group of it may have come further. */
  static final Template LAGGING =
      Template.of(
          """
          -- look_at_committed
          SELECT {stream}::BIGINT AS stream_id
          WHERE EXISTS (
            SELECT
            FROM {schema}.consumer_group_cursor_{stream} AS cursor
            WHERE cursor.committed < cursor.claimed)
          """);

  /** As a claim does it for its own group, for every group of a stream. */
  static final Template ADVANCE =
      Template.of(
          """
          -- advance_committed_of_groups
          UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
          SET committed = greatest(cursor.committed, settled.committed)
          FROM (
            SELECT peek.consumer_group_id,
                   peek.committed AS before,
                   peek.rewinds,
                   least(
                     peek.claimed,
                     (SELECT lease.low
                      FROM {schema}.claim_lease_{stream} AS lease
                      WHERE lease.consumer_group_id = peek.consumer_group_id
                        AND lease.low >= peek.committed
                      ORDER BY lease.low
                      LIMIT 1),
                     (SELECT exception.message_id - 1
                      FROM {schema}.exception_queue_{stream} AS exception
                      WHERE exception.consumer_group_id = peek.consumer_group_id
                        AND exception.message_id > peek.committed
                        AND exception.status IN ('ready', 'inflight', 'deferred')
                      ORDER BY exception.message_id
                      LIMIT 1)) AS committed
            FROM {schema}.consumer_group_cursor_{stream} AS peek
            WHERE peek.committed < peek.claimed
          ) AS settled
          WHERE cursor.consumer_group_id = settled.consumer_group_id
            AND settled.committed > settled.before
            -- the row may have changed since it was looked at
            AND cursor.rewinds = settled.rewinds
            -- one that claims moves by itself, and two that move several are not to wait for each other
            AND cursor.consumer_group_id IN (
              SELECT free.consumer_group_id
              FROM {schema}.consumer_group_cursor_{stream} AS free
              WHERE free.committed < free.claimed
              ORDER BY free.consumer_group_id
              FOR UPDATE SKIP LOCKED)
          """);

  /**
   * Removes what groups that are gone have left: a result that was recorded while its group was
   * destroyed. A group's number is never used again.
   */
  static final Template ORPHANS =
      Template.of(
          """
          -- sweep_orphans
          WITH RECURSIVE
          present (consumer_group_id) AS (
            -- from one group to the next along the key: as many steps as there are groups
            (SELECT min(row.consumer_group_id) FROM {table} AS row)
            UNION ALL
            SELECT (SELECT min(row.consumer_group_id) FROM {table} AS row WHERE row.consumer_group_id > present.consumer_group_id)
            FROM present
            WHERE present.consumer_group_id IS NOT NULL
          ),
          due AS MATERIALIZED (
            SELECT row.ctid AS place
            FROM {table} AS row
            WHERE row.consumer_group_id = ANY (ARRAY(
              SELECT present.consumer_group_id
              FROM present
              WHERE NOT EXISTS (
                SELECT
                FROM {schema}.consumer_group_config AS consumer_group
                WHERE consumer_group.id = present.consumer_group_id)))
            LIMIT :most
            FOR UPDATE SKIP LOCKED
          )
          DELETE FROM {table} AS row
          WHERE row.ctid = ANY (ARRAY(SELECT due.place FROM due))
          """);

  /** The tables whose rows come and go. Steps over what is in use, and never cuts a table short. */
  static final Template VACUUM =
      Template.of(
          """
          -- vacuum_stream
          VACUUM (SKIP_LOCKED, TRUNCATE false)
            {schema}.exception_queue_{stream},
            {schema}.claim_lease_{stream},
            {schema}.consumer_group_cursor_{stream},
            {schema}.idempotency_key_{stream},
            {schema}.compaction_head_{stream},
            {schema}.delivery_log_{stream}
          """);

  private AdvanceSql() {}
}
