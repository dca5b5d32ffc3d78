package io.sqlstreams.internal.claim;

import io.sqlstreams.internal.filter.FilterSql;
import io.sqlstreams.internal.order.KeySql;
import io.sqlstreams.internal.sql.Template;

/** The claim of the next run of the log, and the taking over of ranges that dead sessions left. */
final class ClaimSql {
  /**
   * Looks, and takes what there is to take, in one statement.
   *
   * <p>A caught-up group is only looked at: nothing is locked or written. The lock on the cursor
   * row may have to wait for another claim; {@code locked.claimed} is then newer than this
   * statement's snapshot, so an id may be passed only for one of two reasons: its row was seen, in
   * a run without a gap that begins right above the settled ids, or it is at or below {@code
   * peek.settled_head}. That one is read without the lock, as the snapshot shows it, so the
   * statement that proved it ended before this one began. What the locked row says could be newer
   * than the snapshot, and is not used.
   *
   * <p>For the same reason {@code committed} is worked out from {@code peek} alone: a range that
   * another session claimed while this one waited is not in {@code claim_lease} yet as this
   * statement sees it.
   *
   * <p>What the group reads, its filter, is part of the same snapshot. The walk goes over {@code
   * :max_scan} messages, whether they are wanted or not. Of those that aren't nothing is kept, and
   * nothing is read that the row doesn't hold itself, but headers when there are bindings to them.
   * The ids that were wanted are kept with the lease, unless all were: so whoever takes it over
   * delivers the same messages, whatever the group reads by then.
   */
  static final Template CLAIM =
      Template.of(
              """
          -- claim_range
          WITH
          peek AS MATERIALIZED (
            SELECT cursor.claimed,
                   cursor.committed,
                   cursor.settled_head,
                   cursor.rewinds,
                   -- by this transaction, before this statement
                   coalesce(cursor.xmax = pg_current_xact_id_if_assigned()::XID, false) AS is_locked,
                   cursor.filter,
                   (SELECT log.id
                    FROM {schema}.message_log_{stream} AS log
                    WHERE log.id > cursor.claimed
                    ORDER BY log.id
                    LIMIT 1) AS first_id,
                   (SELECT lease.low
                    FROM {schema}.claim_lease_{stream} AS lease
                    WHERE lease.consumer_group_id = :group
                      -- every open range is above committed: dead rows of finished ones are not walked over
                      AND lease.low >= cursor.committed
                    ORDER BY lease.low
                    LIMIT 1) AS lowest_open,
                   (SELECT exception.message_id
                    FROM {schema}.exception_queue_{stream} AS exception
                    WHERE exception.consumer_group_id = :group
                      AND exception.message_id > cursor.committed
                      AND exception.status IN ('ready', 'inflight', 'deferred')
                    ORDER BY exception.message_id
                    LIMIT 1) AS lowest_unresolved,
                   (SELECT min(lease.expires_at)
                    FROM {schema}.claim_lease_{stream} AS lease
                    WHERE lease.consumer_group_id = :group
                      AND lease.low >= cursor.committed
                      AND lease.token <> ALL (:held)) AS lease_expires_at,
                   (SELECT exception.can_run_after
                    FROM {schema}.exception_queue_{stream} AS exception
                    WHERE exception.consumer_group_id = :group
                      AND exception.status = 'ready'
                      AND NOT exception.suspect
                    ORDER BY exception.can_run_after
                    LIMIT 1) AS exception_due_at,
                   (SELECT exception.can_run_after
                    FROM {schema}.exception_queue_{stream} AS exception
                    WHERE exception.consumer_group_id = :group
                      AND exception.status = 'ready'
                      AND exception.suspect
                      AND :take_suspect
                    ORDER BY exception.can_run_after
                    LIMIT 1) AS suspect_due_at,
                   (SELECT exception.message_id
                    FROM {schema}.exception_queue_{stream} AS exception
                    WHERE exception.consumer_group_id = :group
                      AND exception.message_key IS NOT NULL
                      AND exception.status = 'deferred'
                    ORDER BY exception.message_key, exception.message_id
                    LIMIT 1) AS deferred,
                   (SELECT exception.lease_expires_at
                    FROM {schema}.exception_queue_{stream} AS exception
                    WHERE exception.consumer_group_id = :group
                      AND exception.status = 'inflight'
                      AND exception.lease_token <> ALL (:held)
                    ORDER BY exception.lease_expires_at
                    LIMIT 1) AS exception_expires_at
            FROM {schema}.consumer_group_cursor_{stream} AS cursor
            WHERE cursor.consumer_group_id = :group
          ),
          filter AS MATERIALIZED (
            {filter}
          ),
          locked AS MATERIALIZED (
            SELECT cursor.claimed
            FROM {schema}.consumer_group_cursor_{stream} AS cursor
            WHERE cursor.consumer_group_id = :group
              AND :max_messages > 0
              -- asked again of the newest row when the lock had to be waited for: what was read under an earlier set would be
              -- above the point from which on the new one holds
              AND cursor.filter = (SELECT peek.filter FROM peek)
              -- what a dead session left comes first
              AND (SELECT peek.lease_expires_at IS NULL OR peek.lease_expires_at > now() FROM peek)
              AND (SELECT peek.first_id <= greatest(peek.claimed + 1, peek.settled_head) OR peek.claimed < peek.settled_head FROM peek)
            FOR UPDATE
          ),
          seen AS MATERIALIZED (
            SELECT log.id,
                   log.created_at,
                   log.schema_version,
                   log.routing_key,
                   log.message_key,
                   log.compaction_rank,
                   log.payload,
                   log.headers,
                   log.options,
                   log.concurrency,
                   log.matches,
                   (log.id <= peek.settled_head OR log.id - log.above_settled = greatest(locked.claimed, peek.settled_head))
                     AND log.wanted <= :max_messages
                     AND (log.bytes <= :max_bytes OR log.wanted <= 1)
                     -- whether a message has to wait for others of its key is known only under the lock
                     AND (log.in_line = 0 OR peek.is_locked) AS takable
            FROM locked
            CROSS JOIN peek
            CROSS JOIN LATERAL (
              SELECT next.id,
                     next.created_at,
                     next.schema_version,
                     next.routing_key,
                     next.message_key,
                     next.compaction_rank,
                     next.payload,
                     next.headers,
                     next.options,
                     next.concurrency,
                     next.matches,
                     -- the run is judged on all ids, the limits count what is wanted alone
                     count(*) FILTER (WHERE next.matches) OVER run AS wanted,
                     count(*) FILTER (WHERE next.id > greatest(locked.claimed, peek.settled_head)) OVER run AS above_settled,
                     sum(next.size) OVER run AS bytes,
                     count(*) FILTER (WHERE next.concurrency <> 'parallel') OVER run AS in_line
              FROM (
                SELECT walk.id,
                       walk.matches,
                       CASE WHEN walk.matches THEN walk.created_at END AS created_at,
                       CASE WHEN walk.matches THEN walk.schema_version END AS schema_version,
                       CASE WHEN walk.matches THEN walk.routing_key END AS routing_key,
                       CASE WHEN walk.matches THEN walk.message_key END AS message_key,
                       CASE WHEN walk.matches THEN walk.compaction_rank END AS compaction_rank,
                       CASE WHEN walk.matches THEN walk.payload END AS payload,
                       CASE WHEN walk.matches THEN walk.headers END AS headers,
                       CASE WHEN walk.matches THEN walk.options END AS options,
                       CASE WHEN walk.matches THEN walk.concurrency END AS concurrency,
                       -- the size in memory; a value that isn't compressed tells it without being read
                       CASE
                         WHEN NOT walk.matches OR walk.payload IS NULL THEN 0
                         WHEN pg_column_compression(walk.payload) IS NULL THEN pg_column_size(walk.payload)
                         WHEN pg_typeof(walk.payload) = 'bytea'::REGTYPE THEN octet_length(walk.payload::TEXT) / 2
                         ELSE octet_length(walk.payload::TEXT)
                       END AS size
                FROM (
                  SELECT log.id,
                         log.created_at,
                         log.schema_version,
                         log.routing_key,
                         log.message_key,
                         log.compaction_rank,
                         log.payload,
                         log.headers,
                         log.options,
                         {concurrency} AS concurrency,
                         {matches} AS matches
                  FROM {schema}.message_log_{stream} AS log
                  CROSS JOIN filter
                  -- this shape has one sensible plan, the walk along the key; one with an upper bound was seen to become a scan
                  -- of the whole partition in a plan that was made while the partition was empty
                  WHERE log.id > locked.claimed
                  ORDER BY log.id
                  LIMIT :max_scan
                ) AS walk
                -- the order is there already, and isn't made again. Saying so keeps this apart from the windows: what isn't
                -- wanted stays here, and isn't kept with the rows that they work on
                ORDER BY walk.id
              ) AS next
              WINDOW run AS (ORDER BY next.id ROWS UNBOUNDED PRECEDING)
            ) AS log
          ),
          -- passed like the others, but not delivered: the head of their key has taken their place
          superseded AS MATERIALIZED (
            SELECT beaten.id, beaten.winner
            FROM (
              SELECT message.id, {winner} AS winner
              FROM seen AS message
              WHERE message.takable
                AND message.compaction_rank IS NOT NULL
            ) AS beaten
            WHERE beaten.winner IS NOT NULL
          ),
          {recorded}
          taken AS MATERIALIZED (
            SELECT locked.claimed AS low,
                   CASE
                     WHEN run.first_left IS NOT NULL THEN greatest(locked.claimed, run.last_taken, least(peek.settled_head, run.first_left - 1))
                     WHEN run.messages = :max_scan THEN run.last_taken
                     ELSE greatest(locked.claimed, run.last_taken, peek.settled_head)
                   END AS high,
                   run.takable,
                   run.included,
                   run.messages AS scanned,
                   run.passed
            FROM locked
            CROSS JOIN peek
            CROSS JOIN (
              SELECT count(*) AS messages,
                     max(seen.id) FILTER (WHERE seen.takable) AS last_taken,
                     min(seen.id) FILTER (WHERE NOT seen.takable) AS first_left,
                     count(*) FILTER (WHERE seen.takable AND seen.matches) AS takable,
                     count(*) FILTER (WHERE seen.takable) AS passed,
                     -- a range of which everything is wanted needs no list
                     CASE WHEN bool_or(NOT seen.matches) FILTER (WHERE seen.takable)
                       THEN array_agg(seen.id) FILTER (WHERE seen.takable AND seen.matches)
                     END AS included
              FROM seen
            ) AS run
          ),
          candidate AS MATERIALIZED (
            SELECT min(seen.id) AS message_id, seen.message_key, seen.concurrency, 0 AS forgiven
            FROM seen
            WHERE seen.takable
              AND seen.matches
              AND seen.concurrency <> 'parallel'
              AND seen.id NOT IN (SELECT superseded.id FROM superseded)
            GROUP BY seen.message_key, seen.concurrency
          ),
          busy AS MATERIALIZED (
            SELECT seen.id
            FROM candidate
            {holders}
            JOIN seen ON seen.message_key = candidate.message_key AND seen.concurrency = candidate.concurrency
            WHERE {busy}
              AND seen.takable
              AND seen.matches
              AND seen.id NOT IN (SELECT superseded.id FROM superseded)
          ),
          aside AS MATERIALIZED (
            SELECT array_agg(other.id ORDER BY other.id) AS ids, count(*) AS messages
            FROM (
              SELECT busy.id FROM busy
              UNION ALL
              SELECT superseded.id FROM superseded
            ) AS other
          ),
          {deferring}
          moved AS (
            UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
            SET claimed = taken.high,
                -- what was peeked before a rewind says nothing about where the group stands now
                committed = CASE
                  WHEN cursor.rewinds = peek.rewinds
                    THEN greatest(cursor.committed, least(peek.claimed, peek.lowest_open, peek.lowest_unresolved - 1))
                  ELSE cursor.committed
                END,
                pending_head = CASE WHEN cursor.pending_head > taken.high THEN cursor.pending_head END,
                pending_writers = CASE WHEN cursor.pending_head > taken.high THEN cursor.pending_writers END,
                pending_xid = CASE WHEN cursor.pending_head > taken.high THEN cursor.pending_xid END
            FROM taken
            CROSS JOIN peek
            WHERE cursor.consumer_group_id = :group
              AND taken.high > taken.low
          ),
          leased AS (
            INSERT INTO {schema}.claim_lease_{stream}
              (token, consumer_group_id, low, high, expires_at, session, included, excluded, filter)
            SELECT :token, :group, taken.low, taken.high, clock_timestamp() + :lease_us * INTERVAL '1 microsecond', :session,
                   taken.included, aside.ids, peek.filter
            FROM taken
            CROSS JOIN peek
            CROSS JOIN aside
            WHERE taken.takable > aside.messages
          )
          SELECT peek.claimed,
                 peek.first_id IS NOT NULL AS is_behind,
                 coalesce(peek.first_id > greatest(peek.claimed + 1, peek.settled_head), false) AS at_gap,
                 least(peek.claimed, peek.lowest_open, peek.lowest_unresolved - 1) > peek.committed AS committed_lags,
                 extract(epoch FROM peek.lease_expires_at - now()) * 1000000 AS lease_expires_us,
                 extract(epoch FROM least(peek.exception_due_at, peek.suspect_due_at) - now()) * 1000000 AS exception_due_us,
                 extract(epoch FROM peek.exception_expires_at - now()) * 1000000 AS exception_expires_us,
                 coalesce((SELECT bool_or(seen.concurrency <> 'parallel') FROM seen) AND NOT peek.is_locked, false) AS needs_lock,
                 peek.deferred IS NOT NULL AS some_wait,
                 (SELECT count(*) FROM busy) AS deferred,
                 taken.low,
                 taken.high,
                 taken.scanned,
                 taken.passed,
                 message.id,
                 message.created_at,
                 message.schema_version,
                 message.routing_key,
                 message.message_key,
                 message.compaction_rank,
                 message.payload,
                 message.headers,
                 message.options,
                 message.concurrency
          FROM peek
          LEFT JOIN taken ON true
          -- in the order of the walk; a sort here would copy every payload once more, and large claims through the disk
          LEFT JOIN seen AS message
            ON message.takable
            AND message.matches
            AND NOT coalesce(message.id = ANY ((SELECT aside.ids FROM aside)::BIGINT[]), false)
          """)
          .withPart("winner", SupersededSql.WINNER)
          .withPart("recorded", SupersededSql.RECORDED)
          .withPart("filter", FilterSql.FILTER)
          .withPart("matches", FilterSql.MATCHES)
          .withPart("concurrency", KeySql.CONCURRENCY)
          .withPart("holders", KeySql.holders(":chained"))
          .withPart("busy", KeySql.BUSY)
          .withPart("deferring", KeySql.deferring("seen"));

  /**
   * Takes over one range whose session is gone: its lease has run out, or was given back. A range
   * that has been taken over too often is dissolved: each of its messages becomes an exception of
   * its own, so that the one that ends the process can't take its neighbours along again. One that
   * holds no message (any more), or whose messages all have to wait for others of their keys, just
   * ends.
   */
  static final Template RECLAIM =
      Template.of(
              """
          -- reclaim_range
          WITH
          filter AS MATERIALIZED (
            {filter}
          ),
          expired AS MATERIALIZED (
            SELECT lease.token,
                   lease.low,
                   lease.high,
                   -- what was given back in order doesn't count
                   lease.reclaims + CASE WHEN lease.session IS NULL THEN 0 ELSE 1 END AS reclaims,
                   lease.excluded,
                   lease.included
            FROM {schema}.claim_lease_{stream} AS lease
            WHERE lease.consumer_group_id = :group
              AND lease.low >= (SELECT cursor.committed FROM {schema}.consumer_group_cursor_{stream} AS cursor WHERE cursor.consumer_group_id = :group)
              AND lease.expires_at <= now()
              -- a session that was out of touch for a while doesn't take over from itself
              AND lease.token <> ALL (:held)
            ORDER BY lease.low
            LIMIT 1
            FOR UPDATE SKIP LOCKED
          ),
          message AS MATERIALIZED (
            SELECT message.id,
                   message.created_at,
                   message.schema_version,
                   message.routing_key,
                   message.message_key,
                   message.compaction_rank,
                   message.payload,
                   message.headers,
                   message.options,
                   message.concurrency
            FROM expired
            CROSS JOIN LATERAL (
              SELECT log.id,
                     log.created_at,
                     log.schema_version,
                     log.routing_key,
                     log.message_key,
                     log.compaction_rank,
                     log.payload,
                     log.headers,
                     log.options,
                     {concurrency} AS concurrency
              FROM {schema}.message_log_{stream} AS log
              WHERE log.id > expired.low
              ORDER BY log.id
              -- as in claim_range: no upper bound; there can't be more messages than ids
              LIMIT expired.high - expired.low
            ) AS message
            WHERE message.id <= expired.high
              AND (expired.excluded IS NULL OR message.id <> ALL (expired.excluded))
              AND (expired.included IS NULL OR message.id = ANY (expired.included))
          ),
          -- since the claim: what another session has delivered meanwhile must not be followed by what it replaced
          superseded AS MATERIALIZED (
            SELECT beaten.id, beaten.winner
            FROM (
              SELECT message.id, {winner} AS winner
              FROM message
              WHERE message.compaction_rank IS NOT NULL
            ) AS beaten
            WHERE beaten.winner IS NOT NULL
          ),
          {recorded}
          candidate AS MATERIALIZED (
            SELECT min(message.id) AS message_id, message.message_key, message.concurrency, 0 AS forgiven
            FROM message
            CROSS JOIN expired
            WHERE message.concurrency <> 'parallel'
              AND expired.reclaims <= :max_range_reclaims
              AND message.id NOT IN (SELECT superseded.id FROM superseded)
            GROUP BY message.message_key, message.concurrency
          ),
          busy AS MATERIALIZED (
            SELECT message.id
            FROM candidate
            {holders}
            JOIN message ON message.message_key = candidate.message_key AND message.concurrency = candidate.concurrency
            WHERE {busy}
              AND message.id NOT IN (SELECT superseded.id FROM superseded)
          ),
          aside AS MATERIALIZED (
            SELECT array_agg(other.id ORDER BY other.id) AS ids, count(*) AS messages
            FROM (
              SELECT busy.id FROM busy
              UNION ALL
              SELECT superseded.id FROM superseded
            ) AS other
          ),
          taken AS (
            UPDATE {schema}.claim_lease_{stream} AS lease
            SET token = :token,
                session = :session,
                reclaims = expired.reclaims,
                excluded = lease.excluded || aside.ids,
                expires_at = clock_timestamp() + :lease_us * INTERVAL '1 microsecond'
            FROM expired
            CROSS JOIN aside
            WHERE lease.token = expired.token
              AND expired.reclaims <= :max_range_reclaims
              AND (SELECT count(*) FROM message) > aside.messages
            RETURNING lease.low, lease.high
          ),
          dissolved AS (
            DELETE FROM {schema}.claim_lease_{stream} AS lease
            USING expired
            CROSS JOIN aside
            WHERE lease.token = expired.token
              AND (expired.reclaims > :max_range_reclaims OR (SELECT count(*) FROM message) = aside.messages)
          ),
          {deferring}
          quarantined AS (
            INSERT INTO {schema}.exception_queue_{stream}
              (consumer_group_id, message_id, status, message_key, concurrency, attempts, can_run_after, suspect, last_error)
            SELECT :group, message.id, 'ready', message.message_key, message.concurrency, 0, now(), true,
                   'quarantined: its range was taken over ' || :max_range_reclaims || ' times'
            FROM expired
            CROSS JOIN message
            WHERE expired.reclaims > :max_range_reclaims
              AND message.id NOT IN (SELECT superseded.id FROM superseded)
            ON CONFLICT (consumer_group_id, message_id) DO NOTHING
            RETURNING message_id
          )
          SELECT (SELECT count(*) FROM quarantined) AS quarantined,
                 (SELECT count(*) FROM busy) AS deferred,
                 taken.low,
                 taken.high,
                 message.id,
                 message.created_at,
                 message.schema_version,
                 message.routing_key,
                 message.message_key,
                 message.compaction_rank,
                 message.payload,
                 message.headers,
                 message.options,
                 message.concurrency
          FROM expired
          CROSS JOIN aside
          LEFT JOIN taken ON true
          LEFT JOIN message
            ON taken.low IS NOT NULL
            AND NOT coalesce(message.id = ANY (aside.ids), false)
          ORDER BY message.id
          """)
          .withPart("winner", SupersededSql.WINNER)
          .withPart("recorded", SupersededSql.RECORDED)
          .withPart("filter", FilterSql.FILTER)
          .withPart("matches", FilterSql.MATCHES)
          .withPart("concurrency", KeySql.CONCURRENCY)
          .withPart(
              "holders",
              KeySql.holders(":chained::UUID[] || ARRAY(SELECT expired.token FROM expired)"))
          .withPart("busy", KeySql.BUSY)
          .withPart("deferring", KeySql.deferring("message"));

  /** Moves {@code committed} of a group that claims nothing new at the moment. */
  static final Template ADVANCE_COMMITTED =
      Template.of(
          """
          -- advance_committed
          UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
          SET committed = greatest(cursor.committed, settled.committed)
          FROM (
            SELECT peek.committed AS before,
                   peek.rewinds,
                   least(
                     peek.claimed,
                     (SELECT lease.low
                      FROM {schema}.claim_lease_{stream} AS lease
                      WHERE lease.consumer_group_id = :group
                        AND lease.low >= peek.committed
                      ORDER BY lease.low
                      LIMIT 1),
                     (SELECT exception.message_id - 1
                      FROM {schema}.exception_queue_{stream} AS exception
                      WHERE exception.consumer_group_id = :group
                        AND exception.message_id > peek.committed
                        AND exception.status IN ('ready', 'inflight', 'deferred')
                      ORDER BY exception.message_id
                      LIMIT 1)) AS committed
            FROM {schema}.consumer_group_cursor_{stream} AS peek
            WHERE peek.consumer_group_id = :group
          ) AS settled
          WHERE cursor.consumer_group_id = :group
            AND settled.committed > settled.before
            -- the row may have changed since it was looked at
            AND cursor.rewinds = settled.rewinds
          """);

  private ClaimSql() {}
}
