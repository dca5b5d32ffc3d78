package io.sqlstreams.internal.operation;

import io.sqlstreams.internal.filter.FilterSql;
import io.sqlstreams.internal.sql.Template;

/** The moving back of a group. */
final class RewindSql {
  /**
   * Keeps claims and results of the stream out until the transaction ends. Each of their statements
   * takes its lock on this table before anything else, and its snapshot after that: so none of them
   * is under way when the rewind looks, none holds a row that the rewind needs, and those that come
   * later see all of it. Whatever else a rewind locks comes after this.
   */
  static final Template LOCK =
      Template.of(
          """
          -- lock_leases
          -- heartbeats queue behind it
          SET LOCAL lock_timeout = '2s';
          LOCK TABLE ONLY {schema}.claim_lease_{stream} IN SHARE ROW EXCLUSIVE MODE
          """);

  static final Template CLAIMED =
      Template.of(
          """
          -- read_claimed
          SELECT cursor.claimed
          FROM {schema}.consumer_group_cursor_{stream} AS cursor
          WHERE cursor.consumer_group_id = :group
          """);

  static final Template LOCK_CURSOR =
      Template.of(
          """
          -- lock_cursor
          SELECT cursor.claimed
          FROM {schema}.consumer_group_cursor_{stream} AS cursor
          WHERE cursor.consumer_group_id = :group
          FOR UPDATE
          """);

  /**
   * Notes that something was done to the group that no message tells of: watchers look at this row.
   * Before the cursor row is locked, as when the group is destroyed.
   */
  static final Template TOUCH =
      Template.of(
          """
          -- touch_group
          UPDATE {schema}.consumer_group_config
          SET updated_at = clock_timestamp()
          WHERE id = :group
          """);

  /** What the log holds above an id up to another of what the group reads. */
  static final Template WINDOW =
      Template.of(
              """
          -- count_window
          WITH
          filter AS MATERIALIZED (
            {filter}
          )
          SELECT (SELECT count(*)
                  FROM {schema}.message_log_{stream} AS log
                  CROSS JOIN filter
                  WHERE log.id > :low
                    AND log.id <= :high
                    AND {matches}) AS messages,
                 first.id AS first_id,
                 first.created_at AS first_at,
                 last.id AS last_id,
                 last.created_at AS last_at
          FROM (VALUES (1)) AS one (row)
          LEFT JOIN LATERAL (
            SELECT log.id, log.created_at
            FROM {schema}.message_log_{stream} AS log
            CROSS JOIN filter
            WHERE log.id > :low
              AND log.id <= :high
              AND {matches}
            ORDER BY log.id
            LIMIT 1
          ) AS first ON true
          LEFT JOIN LATERAL (
            SELECT log.id, log.created_at
            FROM {schema}.message_log_{stream} AS log
            CROSS JOIN filter
            WHERE log.id > :low
              AND log.id <= :high
              AND {matches}
            ORDER BY log.id DESC
            LIMIT 1
          ) AS last ON true
          """)
          .withPart("filter", FilterSql.FILTER)
          .withPart("matches", FilterSql.MATCHES);

  static final Template COUNT_EXCEPTIONS =
      Template.of(
          """
          -- count_exceptions_above
          SELECT count(*) FILTER (WHERE exception.status IN ('ready', 'inflight', 'deferred')) AS open,
                 count(*) FILTER (WHERE exception.status = 'dead') AS dead
          FROM {schema}.exception_queue_{stream} AS exception
          WHERE exception.consumer_group_id = :group
            AND exception.message_id > :position
          """);

  /**
   * Ends the leases above the position. Of one that begins below it the lower part is left, as if
   * it had been given back: its results are refused too, since they would speak of the upper part.
   */
  static final Template END_LEASES =
      Template.of(
          """
          -- end_leases_above
          WITH
          shrunk AS (
            UPDATE {schema}.claim_lease_{stream} AS lease
            SET high = :position,
                token = gen_random_uuid(),
                session = NULL,
                expires_at = now()
            WHERE lease.consumer_group_id = :group
              AND lease.high > :position
              AND lease.low < :position
            RETURNING lease.token
          ),
          ended AS (
            DELETE FROM {schema}.claim_lease_{stream} AS lease
            WHERE lease.consumer_group_id = :group
              AND lease.high > :position
              AND lease.low >= :position
            RETURNING lease.token
          )
          SELECT (SELECT count(*) FROM shrunk) + (SELECT count(*) FROM ended) AS leases
          """);

  /**
   * Takes every message above the position out of the exception queue: it comes again with the log.
   * An attempt that is being made loses its row, and with it its token.
   */
  static final Template SUPERSEDE =
      Template.of(
          """
          -- supersede_exceptions_above
          WITH
          above AS MATERIALIZED (
            -- in the order in which results are recorded, so that neither waits for the other in turn
            SELECT exception.message_id
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.message_id > :position
            ORDER BY exception.message_id
            FOR UPDATE
          ),
          superseded AS (
            DELETE FROM {schema}.exception_queue_{stream} AS exception
            USING above
            WHERE exception.consumer_group_id = :group
              AND exception.message_id > :position
              AND exception.message_id = above.message_id
            RETURNING exception.message_id, exception.status, exception.attempts, exception.last_error
          ),
          logged AS (
            INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status, error)
            SELECT :group, superseded.message_id, superseded.attempts, 'superseded',
                   'superseded by a rewind; its last error: ' || coalesce(superseded.last_error, 'none')
            FROM superseded
            WHERE :log_deliveries
            ORDER BY superseded.message_id
          )
          SELECT count(*) FILTER (WHERE superseded.status IN ('ready', 'inflight', 'deferred')) AS open,
                 count(*) FILTER (WHERE superseded.status = 'dead') AS dead
          FROM superseded
          """);

  /**
   * Moves the cursor. What is proven stays proven: an id above the position that is missing was
   * passed by a proof, which {@code settled_head} keeps, or the group never was there, and the
   * proof is still to be made.
   */
  static final Template MOVE_BACK =
      Template.of(
          """
          -- move_cursor_back
          UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
          SET claimed = :position,
              committed = least(cursor.committed, :position),
              -- everything above is read by the set in force
              filter_above = least(cursor.filter_above, :position),
              rewinds = cursor.rewinds + 1,
              pending_head = NULL,
              pending_writers = NULL,
              pending_xid = NULL
          WHERE cursor.consumer_group_id = :group
          """);

  static final Template NOTE =
      Template.of(
          """
          -- note_rewind
          INSERT INTO {schema}.operation_log_{stream} (consumer_group_id, operation, detail)
          VALUES (:group, 'rewind', jsonb_build_object(
            'start', :start::TEXT,
            'claimed_before', :claimed_before::BIGINT,
            'position', :position::BIGINT,
            'messages', :messages::BIGINT,
            'leases', :leases::BIGINT,
            'open_exceptions', :open_exceptions::BIGINT,
            'dead_exceptions', :dead_exceptions::BIGINT))
          """);

  private RewindSql() {}
}
