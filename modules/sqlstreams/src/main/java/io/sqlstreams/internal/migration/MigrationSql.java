package io.sqlstreams.internal.migration;

import io.sqlstreams.internal.sql.Template;

/** Statements about the versions of tables. */
final class MigrationSql {
  /** The same lock as that of registrations: no stream comes into being halfway. */
  static final Template LOCK =
      Template.of(
          """
          -- lock_migration
          SET LOCAL lock_timeout = '30s';
          SELECT pg_advisory_xact_lock(hashtextextended('sqlstreams:{schema_name}', 0));
          -- whoever works on the tables waits behind a step that waits for them, so it lets them pass soon and comes back
          SET LOCAL lock_timeout = '300ms'
          """);

  /** The system's row is there as long as the installation is. */
  static final Template SYSTEM_VERSION =
      Template.of(
          """
          -- read_system_version
          SELECT coalesce(max(version), 1) AS version,
                 coalesce(max(min_compatible_version), 1) AS min_compatible_version
          FROM {schema}.migration_log
          WHERE system_id = 1
            AND status = 'applied'
          """);

  static final Template STREAM_VERSION =
      Template.of(
          """
          -- read_stream_version
          SELECT coalesce(max(version), 1) AS version,
                 coalesce(max(min_compatible_version), 1) AS min_compatible_version
          FROM {schema}.migration_log
          WHERE stream_id = {stream}
            AND status = 'applied'
          """);

  /** One row for the control plane, with 0 as its owner, and one for each stream. */
  static final Template VERSIONS =
      Template.of(
          """
          -- list_versions
          WITH applied AS (
            SELECT coalesce(stream_id, 0) AS owner,
                   max(version) AS version,
                   max(min_compatible_version) AS min_compatible_version
            FROM {schema}.migration_log
            WHERE consumer_group_id IS NULL
              AND status = 'applied'
            GROUP BY coalesce(stream_id, 0)
          ),
          unfinished AS (
            SELECT DISTINCT ON (coalesce(stream_id, 0))
                   coalesce(stream_id, 0) AS owner,
                   version,
                   error
            FROM {schema}.migration_log
            WHERE consumer_group_id IS NULL
              AND status IN ('started', 'failed')
            ORDER BY coalesce(stream_id, 0), id DESC
          )
          SELECT tables.owner,
                 tables.name,
                 coalesce(applied.version, 1) AS version,
                 coalesce(applied.min_compatible_version, 1) AS min_compatible_version,
                 coalesce(unfinished.version, 0) AS unfinished,
                 unfinished.error
          FROM (
            SELECT 0 AS owner, NULL AS name
            UNION ALL
            SELECT stream.id, stream.name
            FROM {schema}.stream_config AS stream
          ) AS tables
          LEFT JOIN applied ON applied.owner = tables.owner
          LEFT JOIN unfinished ON unfinished.owner = tables.owner
          ORDER BY tables.owner
          """);

  /** Nothing for a stream that was destroyed meanwhile. */
  static final Template STARTED =
      Template.of(
          """
          -- record_step_begun
          WITH continued AS (
            UPDATE {schema}.migration_log
            SET status = 'started',
                error = NULL,
                updated_at = clock_timestamp()
            WHERE {owner} = {owner_id}
              AND version = {version}
              AND status IN ('started', 'failed')
            RETURNING id
          )
          INSERT INTO {schema}.migration_log ({owner}, version, min_compatible_version, status)
          SELECT {owner_id}, {version}, {min_compatible_version}, 'started'
          WHERE NOT EXISTS (SELECT FROM continued)
            AND EXISTS (SELECT FROM {schema}.{owners} WHERE id = {owner_id})
            -- another migrator may have taken it
            AND NOT EXISTS (
              SELECT
              FROM {schema}.migration_log
              WHERE {owner} = {owner_id}
                AND version = {version}
                AND status = 'applied')
          """);

  static final Template FAILED =
      Template.of(
          """
          -- record_step_failed
          UPDATE {schema}.migration_log
          SET status = 'failed',
              error = :error,
              updated_at = clock_timestamp()
          WHERE {owner} = {owner_id}
            AND version = {version}
            AND status = 'started'
          """);

  static final Template IS_STREAM =
      Template.of(
          """
          -- find_stream_by_id
          SELECT id
          FROM {schema}.stream_config
          WHERE id = {stream}
          """);

  /** For people: stops a script that was printed for other tables than it meets. */
  static final Template REQUIRE_VERSION =
      Template.of(
          """
          -- require_version
          DO $$
          BEGIN
            IF (SELECT coalesce(max(version), 1) FROM {schema}.migration_log WHERE {owner} = {owner_id} AND status = 'applied') <> {found} THEN
              RAISE EXCEPTION 'these tables are not at version {found} any more: print the script again';
            END IF;
          END
          $$
          """);

  static final Template CREATE_SCHEMA =
      Template.of(
          """
          -- create_schema
          CREATE SCHEMA IF NOT EXISTS {schema}
          """);

  private MigrationSql() {}
}
