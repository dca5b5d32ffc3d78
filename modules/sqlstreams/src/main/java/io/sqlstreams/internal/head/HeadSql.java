package io.sqlstreams.internal.head;

import io.sqlstreams.internal.sql.Template;

/** Statements on the heads of message keys. Who takes a head by a message is {@code produce}. */
final class HeadSql {
  private static final String MESSAGE =
      """
      message.id,
             message.created_at,
             message.schema_version,
             message.routing_key,
             message.message_key,
             message.compaction_rank,
             message.payload,
             message.headers,
             message.options
      """;

  private static final String HEAD =
      """
      SELECT head.message_id AS head_id,
             head.schema_version AS head_schema_version,
             head.compaction_rank AS head_rank,
             {message}
      FROM {schema}.compaction_head_{stream} AS head
      -- without a message: its partition is gone
      LEFT JOIN LATERAL (
        SELECT log.id, log.created_at, log.schema_version, log.routing_key, log.message_key, log.compaction_rank, log.payload,
               log.headers, log.options
        FROM {schema}.message_log_{stream} AS log
        -- not by equality: that could become a scan of the partition in a plan that was made while it was empty
        WHERE log.id >= head.message_id
        ORDER BY log.id
        LIMIT 1
      ) AS message ON message.id = head.message_id
      WHERE head.compaction_key = :key
        AND head.message_id IS NOT NULL
      """
          .replace("{message}", MESSAGE.strip());

  static final Template READ =
      Template.of(
          """
              -- read_compaction_head
              {head}
              """
              .replace("{head}", HEAD.strip()));

  /**
   * Locks a head that is there, and a row without one that isn't; then reads it. Two statements in
   * one round trip: the second has a snapshot of its own, taken once the lock is held.
   */
  static final Template LOCK =
      Template.of(
          """
              -- lock_compaction_head
              INSERT INTO {schema}.compaction_head_{stream} AS head (compaction_key)
              VALUES (:key)
              ON CONFLICT (compaction_key) DO UPDATE
              SET updated_at = clock_timestamp()
              -- otherwise the row is locked and stays as it is
              WHERE head.message_id IS NULL;
              {head}
              """
              .replace("{head}", HEAD.strip()));

  static final Template MESSAGES =
      Template.of(
          """
          -- list_messages_of_key
          SELECT {message}
          FROM {schema}.message_log_{stream} AS message
          WHERE message.message_key = :key
          ORDER BY message.id DESC
          LIMIT :most
          """
              .replace("{message}", MESSAGE.strip()));

  /** A head that is locked, or that changes at the same time, stays. */
  static final Template SWEEP_TOMBSTONES = sweep("sweep_tombstone_heads", "head.tombstone");

  /** The same for rows that only served as locks. */
  static final Template SWEEP_EMPTY = sweep("sweep_empty_heads", "head.message_id IS NULL");

  /**
   * Removes the heads among a page of keys whose messages are given up. Without its message a head
   * would keep newer ones of its key from being delivered.
   */
  static final Template FORGET =
      Template.of(
          """
          -- forget_heads
          WITH
          page AS MATERIALIZED (
            SELECT head.compaction_key, head.message_id
            FROM {schema}.compaction_head_{stream} AS head
            WHERE head.compaction_key >= :from_key
            ORDER BY head.compaction_key
            LIMIT :most
          ),
          stale AS MATERIALIZED (
            SELECT head.ctid AS place
            FROM {schema}.compaction_head_{stream} AS head
            WHERE head.compaction_key = ANY (ARRAY(SELECT page.compaction_key FROM page WHERE page.message_id <= :floor))
              AND head.message_id <= :floor
            FOR UPDATE SKIP LOCKED
          ),
          forgotten AS (
            DELETE FROM {schema}.compaction_head_{stream} AS head
            WHERE head.ctid = ANY (ARRAY(SELECT stale.place FROM stale))
              AND head.message_id <= :floor
            RETURNING head.compaction_key
          )
          SELECT (SELECT count(*) FROM page) AS seen,
                 (SELECT max(page.compaction_key) FROM page) AS last_key,
                 (SELECT count(*) FROM page WHERE page.message_id <= :floor) AS found,
                 (SELECT count(*) FROM forgotten) AS forgotten
          """);

  private HeadSql() {}

  private static Template sweep(String name, String which) {
    return Template.of(
        """
        -- {name}
        WITH
        due AS MATERIALIZED (
          SELECT head.ctid AS place
          FROM {schema}.compaction_head_{stream} AS head
          WHERE {which}
            AND head.updated_at < now() - make_interval(secs => :ttl_ns / 1e9)
          ORDER BY head.updated_at, head.compaction_key
          LIMIT :most
          FOR UPDATE SKIP LOCKED
        )
        DELETE FROM {schema}.compaction_head_{stream} AS head
        -- the rows that were just locked; one that changed since this statement began isn't found
        WHERE head.ctid = ANY (ARRAY(SELECT due.place FROM due))
          AND {which}
        """
            .replace("{name}", name)
            .replace("{which}", which));
  }
}
