package io.sqlstreams.internal.partition;

import io.sqlstreams.internal.sql.Template;

/** Statements on the partitions of one stream's log. */
final class PartitionSql {
  static final Template LOCK =
      Template.of(
          """
          -- lock_partitions
          SET LOCAL lock_timeout = '2s';
          SELECT pg_advisory_xact_lock(hashtextextended('sqlstreams:{schema_name}:{stream}', 0))
          """);

  static final Template ATTACHED =
      Template.of(
          """
          -- list_partitions
          SELECT substring(child.relname FROM '^message_log_{stream}_([0-9]{1,18})$')::bigint AS number
          FROM pg_catalog.pg_inherits AS link
          JOIN pg_catalog.pg_class AS child ON child.oid = link.inhrelid
          WHERE link.inhparent = to_regclass('{schema}.message_log_{stream}')
            AND child.relname ~ '^message_log_{stream}_[0-9]{1,18}$'
          """);

  static final Template FLOOR =
      Template.of(
          """
          -- read_floor
          SELECT coalesce(
            (SELECT min(substring(child.relname FROM '^message_log_{stream}_([0-9]{1,18})$')::bigint) * :partition_size
             FROM pg_catalog.pg_inherits AS link
             JOIN pg_catalog.pg_class AS child ON child.oid = link.inhrelid
             WHERE link.inhparent = to_regclass('{schema}.message_log_{stream}')
               -- while it is being detached, its rows aren't seen any more
               AND NOT link.inhdetachpending
               AND child.relname ~ '^message_log_{stream}_[0-9]{1,18}$'),
            -- not one is left
            pg_sequence_last_value(to_regclass('{schema}.message_log_{stream}_id_seq')),
            0) AS floor
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

  private PartitionSql() {}
}
