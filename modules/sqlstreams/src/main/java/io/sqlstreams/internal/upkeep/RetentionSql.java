package io.sqlstreams.internal.upkeep;

import io.sqlstreams.internal.fence.LogWriters;
import io.sqlstreams.internal.filter.FilterSql;
import io.sqlstreams.internal.sql.Template;

/** The giving up of messages whose time is over. */
final class RetentionSql {
  /** The newest message of a partition by its id, and how long it is kept yet. */
  static final Template NEWEST =
      Template.of(
          """
          -- look_at_newest
          SELECT newest.id,
                 extract(epoch FROM newest.created_at - clock_timestamp()) * 1000000 + :retention_us AS left_us
          FROM (
            SELECT message.id, message.created_at
            FROM {partition} AS message
            ORDER BY message.id DESC
            LIMIT 1
          ) AS newest
          """);

  /**
   * The same by its time. The order of the ids isn't that of time: a writer may have drawn its id
   * long before it wrote. So this reads the whole partition, once, when all else speaks for giving
   * it up.
   */
  static final Template NEWEST_BY_TIME =
      Template.of(
          """
          -- look_at_newest_by_time
          SELECT max(message.id) AS id,
                 extract(epoch FROM max(message.created_at) - clock_timestamp()) * 1000000 + :retention_us AS left_us
          FROM {partition} AS message
          """);

  /** The groups that have not come past a message. */
  static final Template BEHIND =
      Template.of(
          """
          -- look_at_gate
          SELECT cursor.consumer_group_id AS group_id, consumer_group.name
          FROM {schema}.consumer_group_cursor_{stream} AS cursor
          JOIN {schema}.consumer_group_config AS consumer_group ON consumer_group.id = cursor.consumer_group_id
          WHERE cursor.committed < :newest
          ORDER BY consumer_group.name
          """);

  /** Who writes to the log, and to which server, by the moment of its start. */
  static final Template WRITERS =
      Template.of(
              """
          -- look_at_log_writers
          SELECT pg_postmaster_start_time()::TEXT AS server,
                 array_agg(writer.virtualtransaction) AS writers
          FROM (
            {log_writers}
          ) AS writer
          """)
          .withPart("log_writers", LogWriters.PART);

  /**
   * Before an announcement. The table of the leases is locked first, as a claim does it; then the
   * floor, which a group that begins holds fast until its cursor is there; and the cursors in a
   * statement of their own, which sees that group.
   */
  static final Template LOCK =
      Template.of(
          """
          -- lock_floor
          SET LOCAL lock_timeout = '300ms';
          LOCK TABLE ONLY {schema}.claim_lease_{stream} IN ROW EXCLUSIVE MODE;
          SELECT upkeep.floor,
                 pg_postmaster_start_time()::TEXT AS server,
                 stream.retention_ns,
                 stream.allow_drop_past_committed
          FROM {schema}.stream_upkeep AS upkeep
          JOIN {schema}.stream_config AS stream ON stream.id = upkeep.stream_id
          WHERE upkeep.stream_id = {stream}
          FOR NO KEY UPDATE OF upkeep
          """);

  static final Template LOCK_GROUPS =
      Template.of(
          """
          -- lock_groups
          SELECT cursor.consumer_group_id AS group_id,
                 consumer_group.name,
                 cursor.claimed,
                 cursor.committed,
                 cursor.filter
          FROM {schema}.consumer_group_cursor_{stream} AS cursor
          JOIN {schema}.consumer_group_config AS consumer_group ON consumer_group.id = cursor.consumer_group_id
          ORDER BY cursor.consumer_group_id
          FOR UPDATE OF cursor
          """);

  /** The same without a lock. */
  static final Template GROUPS =
      Template.of(
          """
          -- look_at_groups
          SELECT cursor.consumer_group_id AS group_id,
                 consumer_group.name,
                 cursor.claimed,
                 cursor.committed,
                 cursor.filter
          FROM {schema}.consumer_group_cursor_{stream} AS cursor
          JOIN {schema}.consumer_group_config AS consumer_group ON consumer_group.id = cursor.consumer_group_id
          """);

  /** What a group reads of the messages above where it stands, up to the new floor. */
  static final Template COUNT_UNCLAIMED =
      Template.of(
              """
          -- count_unclaimed
          WITH
          filter AS MATERIALIZED (
            {filter}
          )
          SELECT count(*) AS messages, min(log.id) AS first_id, max(log.id) AS last_id
          FROM {schema}.message_log_{stream} AS log
          CROSS JOIN filter
          WHERE log.id > :claimed
            AND log.id <= :floor
            AND {matches}
          """)
          .withPart("filter", FilterSql.FILTER)
          .withPart("matches", FilterSql.MATCHES);

  /**
   * Takes from a group what lies at or below the new floor, and notes what that was: messages that
   * nobody was at, and those that were being handled. The latter end as they would: their leases go
   * on, above the floor, and their results are taken.
   */
  static final Template GIVE_UP =
      Template.of(
          """
          -- give_up_messages
          WITH
          below AS MATERIALIZED (
            SELECT lease.token,
                   lease.low,
                   least(lease.high, :floor) AS high,
                   lease.included,
                   lease.excluded,
                   lease.session IS NOT NULL AND lease.expires_at > now() AS is_alive
            FROM {schema}.claim_lease_{stream} AS lease
            WHERE lease.consumer_group_id = :group
              AND lease.low < :floor
            FOR UPDATE
          ),
          open AS MATERIALIZED (
            SELECT below.is_alive, log.id
            FROM below
            JOIN {schema}.message_log_{stream} AS log ON log.id > below.low AND log.id <= below.high
            WHERE (below.included IS NULL OR log.id = ANY (below.included))
              AND (below.excluded IS NULL OR log.id <> ALL (below.excluded))
          ),
          -- every open range is above committed, so these are too, even if nothing is left in them
          raised AS (
            UPDATE {schema}.claim_lease_{stream} AS lease
            SET low = greatest(lease.low, :floor),
                high = greatest(lease.high, :floor)
            WHERE lease.token = ANY (ARRAY(SELECT below.token FROM below))
          ),
          waiting AS (
            DELETE FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.message_id <= :floor
              AND exception.status IN ('ready', 'deferred')
            RETURNING exception.message_id
          ),
          held AS MATERIALIZED (
            SELECT exception.message_id, exception.status
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.message_id <= :floor
              AND exception.status IN ('inflight', 'dead')
          ),
          moved AS (
            UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
            SET claimed = greatest(cursor.claimed, :floor),
                committed = greatest(cursor.committed, :floor),
                settled_head = greatest(cursor.settled_head, :floor),
                -- what was worked out before counts no more
                rewinds = cursor.rewinds + 1,
                pending_head = CASE WHEN cursor.pending_head > :floor THEN cursor.pending_head END,
                pending_writers = CASE WHEN cursor.pending_head > :floor THEN cursor.pending_writers END,
                pending_xid = CASE WHEN cursor.pending_head > :floor THEN cursor.pending_xid END
            WHERE cursor.consumer_group_id = :group
          ),
          lost AS MATERIALIZED (
            SELECT :unclaimed + (SELECT count(*) FROM open WHERE NOT open.is_alive) + (SELECT count(*) FROM waiting) AS messages,
                   (SELECT count(*) FROM open WHERE open.is_alive)
                     + (SELECT count(*) FROM held WHERE held.status = 'inflight') AS in_flight,
                   (SELECT count(*) FROM held WHERE held.status = 'dead') AS dead,
                   least(
                     nullif(:unclaimed_first, 0), (SELECT min(open.id) FROM open), (SELECT min(waiting.message_id) FROM waiting),
                     (SELECT min(held.message_id) FROM held)) AS first_id,
                   greatest(
                     nullif(:unclaimed_last, 0), (SELECT max(open.id) FROM open), (SELECT max(waiting.message_id) FROM waiting),
                     (SELECT max(held.message_id) FROM held)) AS last_id
          ),
          noted AS (
            INSERT INTO {schema}.operation_log_{stream} (consumer_group_id, operation, detail)
            SELECT :group, 'retention', jsonb_build_object(
              'floor', :floor::BIGINT, 'messages', lost.messages, 'in_flight', lost.in_flight, 'dead', lost.dead,
              'first_id', lost.first_id, 'last_id', lost.last_id)
            FROM lost
            WHERE lost.messages + lost.in_flight + lost.dead > 0
          )
          SELECT lost.messages, lost.in_flight, lost.dead, lost.first_id, lost.last_id
          FROM lost
          """);

  /**
   * The same for a group that has come past: it loses what is dead, since that goes with its
   * message.
   */
  static final Template NOTE_DEAD =
      Template.of(
          """
          -- note_dead_messages
          WITH
          lost AS MATERIALIZED (
            SELECT count(*) AS dead, min(exception.message_id) AS first_id, max(exception.message_id) AS last_id
            FROM {schema}.exception_queue_{stream} AS exception
            WHERE exception.consumer_group_id = :group
              AND exception.message_id <= :floor
              -- those below were noted before
              AND exception.message_id > :earlier_floor
              AND exception.status = 'dead'
          ),
          noted AS (
            INSERT INTO {schema}.operation_log_{stream} (consumer_group_id, operation, detail)
            SELECT :group, 'retention', jsonb_build_object(
              'floor', :floor::BIGINT, 'messages', 0, 'in_flight', 0, 'dead', lost.dead, 'first_id', lost.first_id, 'last_id', lost.last_id)
            FROM lost
            WHERE lost.dead > 0
          )
          SELECT 0 AS messages, 0 AS in_flight, lost.dead, lost.first_id, lost.last_id
          FROM lost
          """);

  static final Template RAISE_FLOOR =
      Template.of(
          """
          -- raise_floor
          UPDATE {schema}.stream_upkeep AS upkeep
          SET floor = greatest(upkeep.floor, :floor)
          WHERE upkeep.stream_id = {stream}
          """);

  private RetentionSql() {}
}
