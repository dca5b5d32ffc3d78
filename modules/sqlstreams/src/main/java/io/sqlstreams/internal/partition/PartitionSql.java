package io.sqlstreams.internal.partition;

import io.sqlstreams.internal.sql.Template;

/** Statements on the partitions of one stream's log. */
final class PartitionSql {
  /** What a table is marked with that is on its way out; the stream's id follows. */
  private static final String GIVEN_UP = "sqlstreams: given up by retention of stream";

  static final Template LOCK =
      Template.of(
          """
          -- lock_partitions
          SET LOCAL lock_timeout = '2s';
          SELECT pg_advisory_xact_lock(hashtextextended('sqlstreams:{schema_name}:{stream}', 0))
          """);

  /** The same for the upkeep, which comes again soon instead of waiting. */
  static final Template LOCK_BRIEFLY =
      Template.of(
          """
          -- lock_partitions_briefly
          SET LOCAL lock_timeout = '300ms';
          SELECT pg_advisory_xact_lock(hashtextextended('sqlstreams:{schema_name}:{stream}', 0))
          """);

  static final Template FLOOR =
      Template.of(
          """
          -- read_floor
          SELECT greatest(
            (SELECT upkeep.floor
             FROM {schema}.stream_upkeep AS upkeep
             WHERE upkeep.stream_id = {stream}),
            coalesce(
              (SELECT min(substring(child.relname FROM '^message_log_{stream}_([0-9]{1,18})$')::bigint) * :partition_size
               FROM pg_catalog.pg_inherits AS link
               JOIN pg_catalog.pg_class AS child ON child.oid = link.inhrelid
               WHERE link.inhparent = to_regclass('{schema}.message_log_{stream}')
                 -- while it is being detached, its rows aren't seen any more
                 AND NOT link.inhdetachpending
                 AND child.relname ~ '^message_log_{stream}_[0-9]{1,18}$'),
              -- not one is left
              pg_sequence_last_value(to_regclass('{schema}.message_log_{stream}_id_seq')),
              0)) AS floor
          """);

  /**
   * The floor that retention has announced. The lock keeps it where it is until the transaction
   * ends: whoever begins a group above it is seen by the next announcement.
   */
  static final Template HOLD_FLOOR =
      Template.of(
          """
          -- hold_floor
          SELECT upkeep.floor
          FROM {schema}.stream_upkeep AS upkeep
          WHERE upkeep.stream_id = {stream}
          FOR SHARE
          """);

  /** The same without the lock. */
  static final Template ANNOUNCED_FLOOR =
      Template.of(
          """
          -- read_announced_floor
          SELECT upkeep.floor
          FROM {schema}.stream_upkeep AS upkeep
          WHERE upkeep.stream_id = {stream}
          """);

  /** Tables that were partitions and are on their way out. */
  static final Template DETACHED =
      Template.of(
          """
          -- list_detached_partitions
          SELECT substring(relname FROM '^message_log_{stream}_([0-9]{1,18})$')::bigint AS number
          FROM pg_catalog.pg_class
          WHERE relnamespace = to_regnamespace('{schema}')
            AND relkind = 'r'
            AND NOT relispartition
            AND relname ~ '^message_log_{stream}_[0-9]{1,18}$'
          """);

  /**
   * CREATE TABLE ... PARTITION OF would wait for every reader and writer of the stream, and let
   * none pass meanwhile. A table of its own disturbs nobody, and attaching it gets along with both.
   */
  static final Template CREATE =
      Template.of(
          """
          -- create_partition
          -- the default of id comes along: the sequence stays the parent's
          CREATE TABLE IF NOT EXISTS {schema}.message_log_{stream}_{number} (
            LIKE {schema}.message_log_{stream} INCLUDING ALL,
            -- spares the attaching a look at the rows
            CONSTRAINT message_log_{stream}_{number}_bounds CHECK (id >= {low} AND id < {high})
          );
          ALTER TABLE {schema}.message_log_{stream}
            ATTACH PARTITION {schema}.message_log_{stream}_{number} FOR VALUES FROM ({low}) TO ({high});
          ALTER TABLE {schema}.message_log_{stream}_{number}
            DROP CONSTRAINT IF EXISTS message_log_{stream}_{number}_bounds
          """);

  static final Template DROP =
      Template.of(
          """
          -- drop_detached_partition
          DROP TABLE IF EXISTS {schema}.message_log_{stream}_{number}
          """);

  /**
   * What the partitions of these logs span, by the catalog: not their names, which anybody can
   * give, nor the size of a partition. Ids below the first or above the last are null.
   */
  static final Template SLICES =
      Template.of(
          """
          -- list_log_slices
          SELECT wanted.stream_id,
                 format('%I.%I', space.nspname, child.relname) AS name,
                 (substring(bound.text FROM 'FROM \\(''?([0-9]+)'))::NUMERIC AS low,
                 (substring(bound.text FROM 'TO \\(''?([0-9]+)'))::NUMERIC - 1 AS high,
                 link.inhdetachpending AS is_detaching
          FROM unnest(:streams::BIGINT[]) AS wanted (stream_id)
          JOIN pg_catalog.pg_inherits AS link ON link.inhparent = to_regclass('{schema}.message_log_' || wanted.stream_id)
          JOIN pg_catalog.pg_class AS child ON child.oid = link.inhrelid
          JOIN pg_catalog.pg_namespace AS space ON space.oid = child.relnamespace
          CROSS JOIN LATERAL (
            SELECT pg_get_expr(child.relpartbound, child.oid) AS text
          ) AS bound
          ORDER BY wanted.stream_id, low NULLS FIRST
          """);

  /**
   * Leaves a mark on a partition that is about to be taken off: so a table that somebody else has
   * detached, to keep it, is never taken for one to drop.
   */
  static final Template MARK =
      Template.of(
              """
          -- mark_partition
          SET LOCAL lock_timeout = '300ms';
          COMMENT ON TABLE {partition} IS '{mark} {stream}'
          """)
          .withPart("mark", GIVEN_UP);

  /**
   * Takes a partition off while all go on: this waits for the transactions that use the log, and
   * none waits for it. Not within a transaction. A partition whose detaching was given up on is
   * gone for every reader that comes later, and is finished by {@link #FINISH_DETACH}.
   */
  static final Template DETACH =
      Template.of(
          """
          -- detach_partition
          ALTER TABLE {schema}.message_log_{stream} DETACH PARTITION {partition} CONCURRENTLY
          """);

  static final Template FINISH_DETACH =
      Template.of(
          """
          -- finish_detach_partition
          SET LOCAL lock_timeout = '300ms';
          -- a plan that still names it would queue behind whoever waits for it; so nobody waits
          LOCK TABLE ONLY {partition} IN ACCESS EXCLUSIVE MODE NOWAIT;
          ALTER TABLE {schema}.message_log_{stream} DETACH PARTITION {partition} FINALIZE
          """);

  static final Template DROP_MARKED =
      Template.of(
          """
          -- drop_marked_partition
          SET LOCAL lock_timeout = '300ms';
          DROP TABLE IF EXISTS {partition}
          """);

  /** Tables that the upkeep has taken off their logs and not dropped yet. */
  static final Template MARKED =
      Template.of(
              """
          -- list_marked_partitions
          SELECT (substring(mark.description FROM '[0-9]+$'))::BIGINT AS stream_id,
                 format('%I.%I', space.nspname, child.relname) AS name
          FROM pg_catalog.pg_description AS mark
          JOIN pg_catalog.pg_class AS child ON child.oid = mark.objoid
          JOIN pg_catalog.pg_namespace AS space ON space.oid = child.relnamespace
          WHERE mark.classoid = 'pg_catalog.pg_class'::REGCLASS
            AND mark.objsubid = 0
            AND mark.description ~ '^{mark} [0-9]+$'
            AND space.nspname = '{schema_name}'
            AND NOT child.relispartition
          """)
          .withPart("mark", GIVEN_UP);

  /**
   * Sees to it that the ids which are drawn from now on are above this one. Who draws waits for the
   * end of this transaction; so does this for the end of those that have drawn.
   */
  static final Template PASS_IDS =
      Template.of(
          """
          -- pass_ids
          SET LOCAL lock_timeout = '200ms';
          -- changes nothing, but takes the lock
          ALTER SEQUENCE {schema}.message_log_{stream}_id_seq CACHE 1;
          SELECT setval('{schema}.message_log_{stream}_id_seq', greatest(drawn.last_value, {last}))
          FROM {schema}.message_log_{stream}_id_seq AS drawn
          """);

  private PartitionSql() {}
}
