package io.sqlstreams.internal.inspect;

import io.sqlstreams.internal.fence.LogWriters;
import io.sqlstreams.internal.filter.FilterSql;
import io.sqlstreams.internal.sql.Template;

/** Where a group stands. */
final class SnapshotSql {
  /**
   * Everything that is to be told of a group, as one snapshot of the database shows it; so no
   * number is older than another, and none of their differences can be negative. Only who holds
   * locks on the log is read later, at the moment of the look.
   *
   * <p>Each count is a walk along an index that ends after {@code :count_limit} rows, whatever the
   * length of the log or the queue; what lies behind is taken into account by the distance of ids.
   * Open ranges hold what processes have in their memory, and are counted whole. There is one row
   * for each of the blockers, or one.
   */
  static final Template SNAPSHOT =
      Template.of(
              """
          -- group_snapshot
          WITH
          standing AS MATERIALIZED (
            SELECT clock_timestamp() AS taken_at,
                   -- the planner isn't told: it would fetch and sort all when it believes that there are fewer rows
                   :count_limit::BIGINT AS count_limit,
                   cursor.claimed,
                   cursor.committed,
                   greatest(cursor.claimed, cursor.settled_head) AS proven,
                   coalesce(cursor.pending_head > greatest(cursor.claimed, cursor.settled_head), false) AS is_looked_at,
                   cursor.pending_writers,
                   next.id AS next_id,
                   (SELECT log.id FROM {schema}.message_log_{stream} AS log ORDER BY log.id LIMIT 1) AS oldest_id,
                   (SELECT log.id FROM {schema}.message_log_{stream} AS log ORDER BY log.id DESC LIMIT 1) AS newest_id
            FROM {schema}.consumer_group_cursor_{stream} AS cursor
            LEFT JOIN LATERAL (
              SELECT log.id
              FROM {schema}.message_log_{stream} AS log
              WHERE log.id > cursor.claimed
              ORDER BY log.id
              LIMIT 1
            ) AS next ON true
            WHERE cursor.consumer_group_id = :group
          ),
          filter AS MATERIALIZED (
            {filter}
          ),
          unclaimed AS MATERIALIZED (
            SELECT count(*) FILTER (WHERE walk.matches) AS counted,
                   min(walk.id) FILTER (WHERE walk.matches) AS first_id,
                   -- nothing when the walk has come to the end
                   coalesce(max(standing.newest_id) - max(walk.id), 0) AS rest
            FROM standing
            CROSS JOIN LATERAL (
              SELECT log.id, {matches} AS matches
              FROM {schema}.message_log_{stream} AS log
              CROSS JOIN filter
              WHERE log.id > standing.claimed
              ORDER BY log.id
              LIMIT (SELECT standing.count_limit FROM standing)
            ) AS walk
          ),
          oldest_unclaimed AS MATERIALIZED (
            SELECT oldest.id, oldest.created_at
            FROM unclaimed
            CROSS JOIN LATERAL (
              SELECT log.id, log.created_at
              FROM {schema}.message_log_{stream} AS log
              WHERE log.id >= unclaimed.first_id
              ORDER BY log.id
              LIMIT 1
            ) AS oldest
          ),
          open AS MATERIALIZED (
            SELECT count(*) AS ranges,
                   coalesce(sum(held.messages), 0) AS messages
            FROM standing
            JOIN {schema}.claim_lease_{stream} AS lease
              ON lease.consumer_group_id = :group
              -- every open range is above committed: dead rows of finished ones are not walked over
              AND lease.low >= standing.committed
              -- what was claimed before a rewind waits once more
              AND lease.low < standing.claimed
            CROSS JOIN LATERAL (
              SELECT count(*) AS messages
              FROM {schema}.message_log_{stream} AS log
              WHERE log.id > lease.low
                AND log.id <= least(lease.high, standing.claimed)
                AND (lease.included IS NULL OR log.id = ANY (lease.included))
                AND (lease.excluded IS NULL OR log.id <> ALL (lease.excluded))
            ) AS held
          ),
          unresolved AS MATERIALIZED (
            SELECT count(*) FILTER (WHERE walk.status = 'ready' AND walk.can_run_after <= standing.taken_at) AS due,
                   count(*) FILTER (WHERE walk.status = 'ready' AND walk.can_run_after > standing.taken_at AND walk.has_failed) AS retrying,
                   count(*) FILTER (WHERE walk.status = 'ready' AND walk.can_run_after > standing.taken_at AND NOT walk.has_failed) AS delayed,
                   count(*) FILTER (WHERE walk.status = 'inflight') AS inflight,
                   count(*) FILTER (WHERE walk.status = 'deferred') AS deferred,
                   -- a message that the log has lost can't be delivered, and one above the cursor was counted already
                   count(*) FILTER (WHERE walk.message_id BETWEEN standing.oldest_id AND standing.claimed) AS counted,
                   CASE WHEN count(*) = max(standing.count_limit) THEN greatest(max(standing.claimed) - max(walk.message_id), 0) ELSE 0 END AS rest
            FROM standing
            CROSS JOIN LATERAL (
              SELECT exception.message_id,
                     exception.status,
                     exception.can_run_after,
                     exception.attempts - exception.forgiven > exception.delays AS has_failed
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = :group
                AND exception.message_id > standing.committed
                AND exception.status IN ('ready', 'inflight', 'deferred')
              ORDER BY exception.message_id
              LIMIT (SELECT standing.count_limit FROM standing)
            ) AS walk
          ),
          oldest_unresolved AS MATERIALIZED (
            SELECT oldest.message_id, oldest.created_at
            FROM standing
            CROSS JOIN LATERAL (
              SELECT exception.message_id, exception.created_at
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = :group
                AND exception.message_id > standing.committed
                AND exception.status IN ('ready', 'inflight', 'deferred')
              ORDER BY exception.message_id
              LIMIT 1
            ) AS oldest
          ),
          oldest_due AS MATERIALIZED (
            SELECT oldest.message_id, oldest.can_run_after
            FROM standing
            CROSS JOIN (VALUES (false), (true)) AS kind (suspect)
            CROSS JOIN LATERAL (
              SELECT exception.message_id, exception.can_run_after
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = :group
                AND exception.suspect = kind.suspect
                -- a deferred one waits for its key, not for a time
                AND exception.status = 'ready'
                AND exception.can_run_after <= standing.taken_at
              ORDER BY exception.can_run_after, exception.message_id
              LIMIT 1
            ) AS oldest
            ORDER BY oldest.can_run_after, oldest.message_id
            LIMIT 1
          ),
          dead AS MATERIALIZED (
            SELECT count(*) AS counted
            FROM (
              SELECT exception.message_id
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = :group
                AND exception.status = 'dead'
              ORDER BY exception.message_id
              LIMIT (SELECT standing.count_limit FROM standing)
            ) AS walk
          ),
          superseded AS MATERIALIZED (
            SELECT count(*) AS counted
            FROM (
              SELECT exception.message_id
              FROM {schema}.exception_queue_{stream} AS exception
              WHERE exception.consumer_group_id = :group
                AND exception.status = 'superseded'
              ORDER BY exception.message_id
              LIMIT (SELECT standing.count_limit FROM standing)
            ) AS walk
          ),
          blocker AS MATERIALIZED (
            SELECT writer.pid,
                   activity.application_name,
                   (extract(epoch FROM clock_timestamp() - activity.xact_start) * 1000000)::BIGINT AS age_us,
                   true AS is_there
            FROM standing
            CROSS JOIN (
              {log_writers}
            ) AS writer
            LEFT JOIN pg_catalog.pg_stat_activity AS activity ON activity.pid = writer.pid
            -- asked first, and once: without a gap nobody looks at the locks
            WHERE (SELECT coalesce(standing.next_id > standing.proven + 1, false) FROM standing)
              -- as in fence_look: once the writers of a gap are noted, who came later isn't waited for
              AND (NOT standing.is_looked_at
                   OR writer.virtualtransaction = ANY (standing.pending_writers)
                   OR writer.virtualtransaction LIKE '-1/%')
            -- those whose age isn't known, such as prepared transactions, first
            ORDER BY activity.xact_start NULLS FIRST, writer.pid
            LIMIT :most_blockers
          )
          SELECT standing.taken_at,
                 greatest(standing.claimed, standing.newest_id) AS head,
                 standing.claimed,
                 standing.committed,
                 oldest_unclaimed.id AS next_id,
                 oldest_unclaimed.created_at AS next_created_at,
                 unclaimed.counted AS unclaimed_counted,
                 unclaimed.rest AS unclaimed_rest,
                 open.ranges AS open_ranges,
                 open.messages AS open_messages,
                 unresolved.counted AS unresolved_counted,
                 unresolved.rest AS unresolved_rest,
                 unresolved.due,
                 unresolved.retrying,
                 unresolved.delayed,
                 unresolved.inflight,
                 unresolved.deferred,
                 dead.counted AS dead,
                 superseded.counted AS superseded,
                 oldest_unresolved.message_id AS unresolved_id,
                 oldest_unresolved.created_at AS unresolved_since,
                 oldest_due.message_id AS due_id,
                 oldest_due.can_run_after AS due_since,
                 coalesce(blocker.is_there, false) AS is_blocked,
                 blocker.pid,
                 blocker.application_name,
                 blocker.age_us
          FROM standing
          CROSS JOIN unclaimed
          CROSS JOIN open
          CROSS JOIN unresolved
          CROSS JOIN dead
          CROSS JOIN superseded
          LEFT JOIN oldest_unclaimed ON true
          LEFT JOIN oldest_unresolved ON true
          LEFT JOIN oldest_due ON true
          LEFT JOIN blocker ON true
          ORDER BY blocker.age_us DESC NULLS FIRST, blocker.pid
          """)
          .withPart("log_writers", LogWriters.PART)
          .withPart("filter", FilterSql.FILTER)
          .withPart("matches", FilterSql.MATCHES);

  private SnapshotSql() {}
}
