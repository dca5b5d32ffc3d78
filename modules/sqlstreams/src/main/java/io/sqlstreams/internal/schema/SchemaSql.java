package io.sqlstreams.internal.schema;

import io.sqlstreams.internal.sql.Template;

/** Statements about an installation as a whole. */
final class SchemaSql {
  /**
   * One change of tables or names at a time, in the whole database, until the end of the
   * transaction.
   */
  static final Template LOCK =
      Template.of(
          """
          -- lock_schema
          -- those ahead are many perhaps, but each is short
          SET LOCAL lock_timeout = '30s';
          SELECT pg_advisory_xact_lock(hashtextextended('sqlstreams:{schema_name}', 0));
          -- what DDL waits for, others wait for behind it
          SET LOCAL lock_timeout = '2s'
          """);

  static final Template PROBE =
      Template.of(
          """
          -- probe_schema
          SELECT current_setting('server_version_num')::int AS server_version,
                 -- not to_regnamespace and to_regclass: those remember what didn't exist when the transaction
                 -- began, though the one who held the lock has created it meanwhile
                 EXISTS (
                   SELECT
                   FROM pg_catalog.pg_namespace
                   WHERE nspname = '{schema_name}') AS schema_exists,
                 (SELECT count(*) = 3
                  FROM pg_catalog.pg_class AS relation
                  JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace
                  WHERE space.nspname = '{schema_name}'
                    AND relation.relname IN ('system_config', 'stream_config', 'migration_log')) AS installed
          """);

  static final Template CREATE_SCHEMA =
      Template.of(
          """
          -- create_schema
          CREATE SCHEMA IF NOT EXISTS {schema}
          """);

  /** Fails when anything is left in it. */
  static final Template DROP_SCHEMA =
      Template.of(
          """
          -- drop_schema
          DROP SCHEMA {schema} RESTRICT
          """);

  static final Template SEQUENCE_CACHE =
      Template.of(
          """
          -- read_sequence_cache
          SELECT seqcache
          FROM pg_catalog.pg_sequence
          WHERE seqrelid = to_regclass('{schema}.message_log_{stream}_id_seq')
          """);

  /** Sessions that hold a cached block drop it: the sequence's file changes. */
  static final Template REPAIR_SEQUENCE_CACHE =
      Template.of(
          """
          -- repair_sequence_cache
          ALTER SEQUENCE {schema}.message_log_{stream}_id_seq CACHE 1
          """);

  private SchemaSql() {}
}
