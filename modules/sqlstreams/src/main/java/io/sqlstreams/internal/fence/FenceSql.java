package io.sqlstreams.internal.fence;

import io.sqlstreams.internal.sql.Template;

/** The look at the writers of a stream's log. */
final class FenceSql {
  /**
   * Proves that a gap is nobody's, or begins to.
   *
   * <p>A first look notes the newest visible id and who may still bring smaller ones. The snapshot
   * of a statement is older than anything that it reads of the lock table, and a transaction
   * becomes visible before it lets its locks go. So whoever drew an id up to {@code head} is listed
   * as a writer or has ended already, and what it wrote is visible to every statement that starts
   * later. A second look, by whatever session, finds that none of those writers writes any more.
   *
   * <p>Both are kept in the cursor row and nowhere else. A server that loses the end of its WAL (a
   * failover to an asynchronous standby, a crash with {@code synchronous_commit = off}) loses the
   * proof too, if it loses a message or an id that the proof speaks of: those were in the WAL
   * before. A session's memory would outlive them.
   */
  static final Template LOOK =
      Template.of(
              """
          -- fence_look
          WITH
          writer AS MATERIALIZED (
            {log_writers}
          ),
          look AS MATERIALIZED (
            SELECT cursor.pending_head AS earlier_head,
                   cursor.pending_writers AS earlier_writers,
                   coalesce(cursor.pending_head > greatest(cursor.claimed, cursor.settled_head), false) AS is_second,
                   -- a prepared transaction keeps its virtual transaction id until the server restarts; then it comes back
                   -- with a backend number of -1, and since its old id is lost, each of those counts
                   EXISTS (
                     SELECT
                     FROM writer
                     WHERE writer.virtualtransaction = ANY (cursor.pending_writers)
                        OR writer.virtualtransaction LIKE '-1/%') AS earlier_writes,
                   coalesce((SELECT log.id FROM {schema}.message_log_{stream} AS log ORDER BY log.id DESC LIMIT 1), 0) AS head,
                   (SELECT array_agg(writer.virtualtransaction) FROM writer) AS writers
            FROM {schema}.consumer_group_cursor_{stream} AS cursor
            WHERE cursor.consumer_group_id = :group
          ),
          result AS MATERIALIZED (
            SELECT look.earlier_head,
                   CASE
                     WHEN look.is_second AND NOT look.earlier_writes THEN look.earlier_head
                     WHEN NOT look.is_second AND look.writers IS NULL THEN look.head
                   END AS settled_head,
                   CASE WHEN NOT look.is_second AND look.writers IS NOT NULL THEN look.head END AS pending_head,
                   CASE WHEN look.is_second THEN look.earlier_writers ELSE look.writers END AS writers
            FROM look
          ),
          kept AS (
            UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
            SET settled_head = greatest(cursor.settled_head, result.settled_head),
                pending_head = result.pending_head,
                pending_writers = CASE WHEN result.pending_head IS NOT NULL THEN result.writers END,
                -- the oldest of them, for whoever looks at the row
                pending_xid = (
                  SELECT held.transactionid
                  FROM pg_catalog.pg_locks AS held
                  WHERE result.pending_head IS NOT NULL
                    AND held.locktype = 'transactionid'
                    AND held.mode = 'ExclusiveLock'
                    AND held.granted
                    AND held.virtualtransaction = ANY (result.writers)
                  ORDER BY age(held.transactionid) DESC
                  LIMIT 1)
            FROM result
            WHERE cursor.consumer_group_id = :group
              AND (result.settled_head IS NOT NULL OR result.pending_head IS NOT NULL)
              -- else another session was faster
              AND cursor.pending_head IS NOT DISTINCT FROM result.earlier_head
          )
          SELECT result.settled_head IS NOT NULL AS settled,
                 coalesce(result.pending_head, result.earlier_head) AS pending_head,
                 result.writers
          FROM result
          """)
          .withPart("log_writers", LogWriters.PART);

  /**
   * Who they are, for the warning. The columns of other roles' sessions are null without the role
   * pg_read_all_stats.
   */
  static final Template WRITERS =
      Template.of(
              """
          -- fence_writers
          SELECT writer.pid,
                 activity.application_name,
                 extract(epoch FROM clock_timestamp() - activity.xact_start)::BIGINT AS age_seconds
          FROM (
            {log_writers}
          ) AS writer
          LEFT JOIN pg_catalog.pg_stat_activity AS activity ON activity.pid = writer.pid
          WHERE writer.virtualtransaction = ANY (:writers)
          ORDER BY activity.xact_start
          LIMIT 5
          """)
          .withPart("log_writers", LogWriters.PART);

  private FenceSql() {}
}
