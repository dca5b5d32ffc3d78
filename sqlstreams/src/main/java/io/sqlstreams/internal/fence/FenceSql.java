package io.sqlstreams.internal.fence;

import io.sqlstreams.internal.sql.Template;

/** The looks at the writers of a stream's log. They are reads of shared memory: they lock nothing and write nothing. */
final class FenceSql {
  /**
   * The newest visible id, and who may still bring smaller ones. The snapshot of a statement is older than anything that it
   * reads of the lock table, and a transaction becomes visible before it lets its locks go. So whoever drew an id up to
   * {@code head} is listed here or has ended already, and what it wrote is visible to every statement that starts later.
   */
  static final Template LOOK =
      Template.of(
          """
          -- fence_look
          WITH writer AS MATERIALIZED (
            SELECT held.virtualtransaction
            FROM pg_catalog.pg_locks AS held
            WHERE held.locktype = 'relation'
              AND held.database = (SELECT db.oid FROM pg_catalog.pg_database AS db WHERE db.datname = current_database())
              AND held.relation = pg_catalog.to_regclass(:message_log)
              AND held.mode = 'RowExclusiveLock'
              AND held.granted
              -- the pid of a prepared transaction is null
              AND held.pid IS DISTINCT FROM pg_backend_pid()
          )
          SELECT coalesce((SELECT log.id FROM {schema}.message_log_{stream} AS log ORDER BY log.id DESC LIMIT 1), 0) AS head,
                 (SELECT array_agg(DISTINCT writer.virtualtransaction) FROM writer) AS writers
          """);

  /**
   * Which of these writers still hold their lock. A prepared transaction keeps its virtual transaction id until the server
   * restarts; then it comes back with a backend number of -1, and since its old id is lost, each of those counts.
   */
  static final Template STILL_WRITING =
      Template.of(
          """
          -- fence_still_writing
          SELECT array_agg(DISTINCT held.virtualtransaction) AS writers
          FROM pg_catalog.pg_locks AS held
          WHERE held.locktype = 'relation'
            AND held.database = (SELECT db.oid FROM pg_catalog.pg_database AS db WHERE db.datname = current_database())
            AND held.relation = pg_catalog.to_regclass(:message_log)
            AND held.mode = 'RowExclusiveLock'
            AND held.granted
            AND (held.virtualtransaction = ANY (:writers) OR held.virtualtransaction LIKE '-1/%')
          """);

  /** What an earlier statement of any session has proven or seen. */
  static final Template LOAD =
      Template.of(
          """
          -- fence_load
          SELECT cursor.settled_head, cursor.pending_head, cursor.pending_writers
          FROM {schema}.consumer_group_cursor_{stream} AS cursor
          WHERE cursor.consumer_group_id = :group
          """);

  /** Keeps an unproven look: any session can finish it, and an operator sees who holds the group back. */
  static final Template SAVE_PENDING =
      Template.of(
          """
          -- fence_save_pending
          UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
          SET pending_head = :head,
              pending_writers = :writers,
              pending_xid = (
                SELECT held.transactionid
                FROM pg_catalog.pg_locks AS held
                WHERE held.locktype = 'transactionid'
                  AND held.mode = 'ExclusiveLock'
                  AND held.granted
                  AND held.virtualtransaction = ANY (:writers)
                ORDER BY age(held.transactionid) DESC
                LIMIT 1)
          WHERE cursor.consumer_group_id = :group
            AND :head > cursor.settled_head
            AND cursor.pending_head IS DISTINCT FROM :head
          """);

  /** Who they are, for the warning. The columns of other roles' sessions are null without the role pg_read_all_stats. */
  static final Template BLOCKERS =
      Template.of(
          """
          -- fence_blockers
          SELECT held.pid,
                 held.virtualtransaction,
                 activity.application_name,
                 extract(epoch FROM clock_timestamp() - activity.xact_start)::BIGINT AS age_seconds
          FROM pg_catalog.pg_locks AS held
          LEFT JOIN pg_catalog.pg_stat_activity AS activity ON activity.pid = held.pid
          WHERE held.locktype = 'relation'
            AND held.database = (SELECT db.oid FROM pg_catalog.pg_database AS db WHERE db.datname = current_database())
            AND held.relation = pg_catalog.to_regclass(:message_log)
            AND held.mode = 'RowExclusiveLock'
            AND held.granted
            AND held.virtualtransaction = ANY (:writers)
          ORDER BY activity.xact_start
          LIMIT 5
          """);

  private FenceSql() {}
}
