package io.sqlstreams.internal.schedule;

import io.sqlstreams.internal.sql.Template;

/**
 * Statements on schedules. Whoever changes a schedule, or produces for it, holds the row of its
 * cursor first: so nobody produces for a planned time by settings that have been replaced.
 */
final class ScheduleSql {
  private static final String COLUMNS =
      """
      config.id,
      config.name,
      config.stream_id,
      stream.name AS stream,
      config.expression,
      config.time_zone,
      config.missed_run_policy,
      config.suspended,
      config.schema_version,
      config.payload,
      config.concurrency,
      config.timeout_ns,
      config.metadata,
      config.created_at,
      cursor.next_scheduled_at,
      cursor.last_scheduled_at,
      cursor.last_message_id
      """;

  /** The database's clock; planned times are compared with it and with no other. */
  static final Template NOW =
      Template.of(
          """
          -- read_clock
          SELECT clock_timestamp() AS now
          """);

  static final Template FIND =
      Template.of(
              """
              -- read_schedule
              SELECT {columns}
              FROM {schema}.schedule_config AS config
              JOIN {schema}.schedule_cursor AS cursor ON cursor.schedule_id = config.id
              JOIN {schema}.stream_config AS stream ON stream.id = config.stream_id
              WHERE config.name = :name
              """)
          .withPart("columns", COLUMNS);

  static final Template LIST =
      Template.of(
              """
              -- list_schedules
              SELECT {columns}
              FROM {schema}.schedule_config AS config
              JOIN {schema}.schedule_cursor AS cursor ON cursor.schedule_id = config.id
              JOIN {schema}.stream_config AS stream ON stream.id = config.stream_id
              -- the same order on every server
              ORDER BY config.name COLLATE "C"
              """)
          .withPart("columns", COLUMNS);

  static final Template INSERT =
      Template.of(
          """
          -- insert_schedule
          INSERT INTO {schema}.schedule_config
            (stream_id, name, expression, time_zone, missed_run_policy, schema_version, payload, concurrency, timeout_ns, metadata)
          VALUES
            (:stream_id, :name, :expression, :time_zone, :missed_run_policy, :schema_version, :payload, :concurrency,
             :timeout_ns::bigint, :metadata::jsonb)
          -- another process was faster: its row is looked at again
          ON CONFLICT (name) DO NOTHING
          RETURNING id
          """);

  static final Template INSERT_CURSOR =
      Template.of(
          """
          -- insert_schedule_cursor
          INSERT INTO {schema}.schedule_cursor (schedule_id, next_scheduled_at)
          VALUES (:schedule_id, :next_scheduled_at)
          """);

  static final Template LOCK =
      Template.of(
          """
          -- lock_schedule
          SELECT cursor.schedule_id
          FROM {schema}.schedule_cursor AS cursor
          JOIN {schema}.schedule_config AS config ON config.id = cursor.schedule_id
          WHERE config.name = :name
          FOR UPDATE OF cursor
          """);

  static final Template UPDATE =
      Template.of(
          """
          -- update_schedule
          UPDATE {schema}.schedule_config
          SET stream_id         = :stream_id,
              expression        = :expression,
              time_zone         = :time_zone,
              missed_run_policy = :missed_run_policy,
              schema_version    = :schema_version,
              payload           = :payload,
              concurrency       = :concurrency,
              timeout_ns        = :timeout_ns::bigint,
              metadata          = :metadata::jsonb,
              updated_at        = clock_timestamp()
          WHERE id = :schedule_id
          """);

  static final Template PLAN =
      Template.of(
          """
          -- plan_schedule
          UPDATE {schema}.schedule_cursor
          SET next_scheduled_at = :next_scheduled_at
          WHERE schedule_id = :schedule_id
          """);

  static final Template SUSPEND =
      Template.of(
          """
          -- suspend_schedule
          UPDATE {schema}.schedule_config
          SET suspended  = :suspended,
              updated_at = clock_timestamp()
          WHERE id = :schedule_id
          """);

  /** The cursor goes with it, once whoever produces for it has ended. */
  static final Template DELETE =
      Template.of(
          """
          -- delete_schedule
          DELETE FROM {schema}.schedule_config
          WHERE name = :name
            AND stream_id IS NOT NULL
          """);

  /**
   * The streams with something due, and how long it is until then for the others, the soonest
   * first. It reads every cursor; what is suspended has no next time.
   */
  static final Template LOOK =
      Template.of(
          """
          -- look_for_due_schedules
          SELECT
            config.stream_id,
            (extract(epoch FROM min(cursor.next_scheduled_at) - clock_timestamp()) * 1e6)::bigint AS micros
          FROM {schema}.schedule_cursor AS cursor
          JOIN {schema}.schedule_config AS config ON config.id = cursor.schedule_id
          WHERE cursor.next_scheduled_at IS NOT NULL
            AND config.stream_id IS NOT NULL
            AND cursor.schedule_id <> ALL (:resting::bigint[])
            AND config.stream_id <> ALL (:resting_streams::bigint[])
          GROUP BY config.stream_id
          ORDER BY min(cursor.next_scheduled_at), config.stream_id
          LIMIT :most
          """);

  /**
   * What goes before {@link #CLAIM}, in its transaction. A message is written anyway, so the log's
   * lock is taken first, in the order in which a stream is dropped: its tables, then its rows. A
   * process that is frozen here holds up the readers of the log, so the server ends its transaction
   * after a while.
   */
  static final String BEFORE_CLAIM =
      """
      SET LOCAL lock_timeout = '2s';
      SET LOCAL idle_in_transaction_session_timeout = '5s';
      SET LOCAL enable_seqscan = off;
      LOCK TABLE ONLY {schema}.message_log_{stream} IN ROW EXCLUSIVE MODE;
      """;

  /**
   * Takes what is due, so that whoever else believes that it leads passes over it. A row that
   * another one has moved since this statement began is looked at again before it is locked.
   */
  static final Template CLAIM =
      Template.of(
          """
          -- claim_due_schedules
          SELECT cursor.schedule_id
          FROM {schema}.schedule_cursor AS cursor
          JOIN {schema}.schedule_config AS config ON config.id = cursor.schedule_id
          WHERE config.stream_id = :stream_id
            AND cursor.next_scheduled_at <= clock_timestamp()
            AND cursor.schedule_id <> ALL (:resting::bigint[])
          ORDER BY cursor.next_scheduled_at, cursor.schedule_id
          LIMIT :most
          FOR NO KEY UPDATE OF cursor SKIP LOCKED
          """);

  /**
   * What was claimed, as it is now that nobody can change it: a statement of its own, since the
   * claim's snapshot may be older than the lock.
   */
  static final Template CLAIMED =
      Template.of(
              """
              -- read_claimed_schedules
              SELECT
                {columns},
                clock_timestamp() AS now
              FROM unnest(:schedule_ids::bigint[]) WITH ORDINALITY AS claimed (schedule_id, place)
              JOIN {schema}.schedule_config AS config ON config.id = claimed.schedule_id
              JOIN {schema}.schedule_cursor AS cursor ON cursor.schedule_id = config.id
              JOIN {schema}.stream_config AS stream ON stream.id = config.stream_id
              -- it may have been given another stream meanwhile, and then isn't for this transaction
              WHERE config.stream_id = :stream_id
                AND NOT config.suspended
              ORDER BY claimed.place
              """)
          .withPart("columns", COLUMNS);

  static final Template MOVE =
      Template.of(
          """
          -- move_schedule_cursors
          UPDATE {schema}.schedule_cursor AS cursor
          SET next_scheduled_at = moved.next_at,
              -- null: nothing was produced
              last_scheduled_at = coalesce(moved.last_at, cursor.last_scheduled_at),
              last_message_id   = coalesce(moved.message_id, cursor.last_message_id)
          FROM unnest(:schedule_ids::bigint[], :next_at::timestamptz[], :last_at::timestamptz[], :message_ids::bigint[])
            AS moved (schedule_id, next_at, last_at, message_id)
          WHERE cursor.schedule_id = moved.schedule_id
          """);

  private ScheduleSql() {}
}
