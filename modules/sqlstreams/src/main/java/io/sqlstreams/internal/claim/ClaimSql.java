package io.sqlstreams.internal.claim;

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
                      AND exception.status IN ('ready', 'deferred')
                      AND NOT exception.suspect
                    ORDER BY exception.can_run_after
                    LIMIT 1) AS exception_due_at,
                   (SELECT exception.can_run_after
                    FROM {schema}.exception_queue_{stream} AS exception
                    WHERE exception.consumer_group_id = :group
                      AND exception.status IN ('ready', 'deferred')
                      AND exception.suspect
                      AND :take_suspect
                    ORDER BY exception.can_run_after
                    LIMIT 1) AS suspect_due_at,
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
          locked AS MATERIALIZED (
            SELECT cursor.claimed
            FROM {schema}.consumer_group_cursor_{stream} AS cursor
            WHERE cursor.consumer_group_id = :group
              AND :max_messages > 0
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
                   (log.id <= peek.settled_head OR log.id - log.above_settled = greatest(locked.claimed, peek.settled_head))
                     AND (log.bytes <= :max_bytes OR log.position = 1) AS takable
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
                     row_number() OVER run AS position,
                     count(*) FILTER (WHERE next.id > greatest(locked.claimed, peek.settled_head)) OVER run AS above_settled,
                     sum(next.size) OVER run AS bytes
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
                       -- the size in memory; a value that isn't compressed tells it without being read
                       CASE
                         WHEN log.payload IS NULL THEN 0
                         WHEN pg_column_compression(log.payload) IS NULL THEN pg_column_size(log.payload)
                         WHEN pg_typeof(log.payload) = 'bytea'::REGTYPE THEN octet_length(log.payload::TEXT) / 2
                         ELSE octet_length(log.payload::TEXT)
                       END AS size
                FROM {schema}.message_log_{stream} AS log
                -- this shape has one sensible plan, the walk along the key; one with an upper bound was seen to become a scan
                -- of the whole partition in a plan that was made while the partition was empty
                WHERE log.id > locked.claimed
                ORDER BY log.id
                LIMIT :max_messages
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
                     WHEN run.messages = :max_messages THEN run.last_taken
                     ELSE greatest(locked.claimed, run.last_taken, peek.settled_head)
                   END AS high,
                   run.takable
            FROM locked
            CROSS JOIN peek
            CROSS JOIN (
              SELECT count(*) AS messages,
                     max(seen.id) FILTER (WHERE seen.takable) AS last_taken,
                     min(seen.id) FILTER (WHERE NOT seen.takable) AS first_left,
                     count(*) FILTER (WHERE seen.takable) AS takable
              FROM seen
            ) AS run
          ),
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
            INSERT INTO {schema}.claim_lease_{stream} (token, consumer_group_id, low, high, expires_at, session, excluded)
            SELECT :token, :group, taken.low, taken.high, clock_timestamp() + :lease_us * INTERVAL '1 microsecond', :session,
                   (SELECT array_agg(superseded.id ORDER BY superseded.id) FROM superseded)
            FROM taken
            WHERE taken.takable > (SELECT count(*) FROM superseded)
          )
          SELECT peek.claimed,
                 peek.first_id IS NOT NULL AS is_behind,
                 coalesce(peek.first_id > greatest(peek.claimed + 1, peek.settled_head), false) AS at_gap,
                 least(peek.claimed, peek.lowest_open, peek.lowest_unresolved - 1) > peek.committed AS committed_lags,
                 extract(epoch FROM peek.lease_expires_at - now()) * 1000000 AS lease_expires_us,
                 extract(epoch FROM least(peek.exception_due_at, peek.suspect_due_at) - now()) * 1000000 AS exception_due_us,
                 extract(epoch FROM peek.exception_expires_at - now()) * 1000000 AS exception_expires_us,
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
                 message.options
          FROM peek
          LEFT JOIN taken ON true
          -- in the order of the walk; a sort here would copy every payload once more, and large claims through the disk
          LEFT JOIN seen AS message ON message.takable AND message.id NOT IN (SELECT superseded.id FROM superseded)
          """)
          .withPart("winner", SupersededSql.WINNER)
          .withPart("recorded", SupersededSql.RECORDED);

  /**
   * Takes over one range whose session is gone: its lease has run out, or was given back. A range
   * that has been taken over too often is dissolved: each of its messages becomes an exception of
   * its own, so that the one that ends the process can't take its neighbours along again. One that
   * holds no message (any more) just ends.
   */
  static final Template RECLAIM =
      Template.of(
              """
          -- reclaim_range
          WITH
          expired AS MATERIALIZED (
            SELECT lease.token,
                   lease.low,
                   lease.high,
                   -- what was given back in order doesn't count
                   lease.reclaims + CASE WHEN lease.session IS NULL THEN 0 ELSE 1 END AS reclaims,
                   lease.excluded
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
          held AS MATERIALIZED (
            SELECT message.id, message.message_key, message.schema_version, message.compaction_rank
            FROM expired
            CROSS JOIN LATERAL (
              SELECT log.id, log.message_key, log.schema_version, log.compaction_rank
              FROM {schema}.message_log_{stream} AS log
              WHERE log.id > expired.low
              ORDER BY log.id
              -- as in claim_range: no upper bound; there can't be more messages than ids
              LIMIT expired.high - expired.low
            ) AS message
            WHERE message.id <= expired.high
              AND (expired.excluded IS NULL OR message.id <> ALL (expired.excluded))
          ),
          -- since the claim: what another session has delivered meanwhile must not be followed by what it replaced
          superseded AS MATERIALIZED (
            SELECT beaten.id, beaten.winner
            FROM (
              SELECT message.id, {winner} AS winner
              FROM held AS message
              WHERE message.compaction_rank IS NOT NULL
            ) AS beaten
            WHERE beaten.winner IS NOT NULL
          ),
          {recorded}
          needed AS MATERIALIZED (
            SELECT held.id, held.message_key
            FROM held
            WHERE held.id NOT IN (SELECT superseded.id FROM superseded)
          ),
          taken AS (
            UPDATE {schema}.claim_lease_{stream} AS lease
            SET token = :token,
                session = :session,
                reclaims = expired.reclaims,
                expires_at = clock_timestamp() + :lease_us * INTERVAL '1 microsecond',
                -- null stays null when nothing is superseded
                excluded = (SELECT nullif(coalesce(expired.excluded, '{}') || array_agg(superseded.id ORDER BY superseded.id), '{}') FROM superseded)
            FROM expired
            WHERE lease.token = expired.token
              AND EXISTS (SELECT FROM needed)
              AND expired.reclaims <= :max_range_reclaims
            RETURNING lease.low, lease.high, lease.excluded
          ),
          dissolved AS (
            DELETE FROM {schema}.claim_lease_{stream} AS lease
            USING expired
            WHERE lease.token = expired.token
              AND (NOT EXISTS (SELECT FROM needed) OR expired.reclaims > :max_range_reclaims)
            RETURNING lease.token
          ),
          quarantined AS (
            INSERT INTO {schema}.exception_queue_{stream}
              (consumer_group_id, message_id, status, message_key, concurrency, attempts, can_run_after, suspect, last_error)
            SELECT :group, needed.id, 'ready', needed.message_key, 'parallel', 0, now(), true,
                   'quarantined: its range was taken over ' || :max_range_reclaims || ' times'
            FROM dissolved
            CROSS JOIN needed
            ON CONFLICT (consumer_group_id, message_id) DO NOTHING
            RETURNING message_id
          )
          SELECT (SELECT count(*) FROM quarantined) AS quarantined,
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
                 message.options
          FROM expired
          LEFT JOIN taken ON true
          LEFT JOIN LATERAL (
            SELECT log.id, log.created_at, log.schema_version, log.routing_key, log.message_key, log.compaction_rank, log.payload,
                   log.headers, log.options
            FROM {schema}.message_log_{stream} AS log
            WHERE log.id > taken.low
            ORDER BY log.id
            LIMIT taken.high - taken.low
          ) AS message
            ON message.id <= taken.high
            AND (taken.excluded IS NULL OR message.id <> ALL (taken.excluded))
          ORDER BY message.id
          """)
          .withPart("winner", SupersededSql.WINNER)
          .withPart("recorded", SupersededSql.RECORDED);

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
