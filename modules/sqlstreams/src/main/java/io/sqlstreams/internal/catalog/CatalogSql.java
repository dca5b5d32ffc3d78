package io.sqlstreams.internal.catalog;

import io.sqlstreams.internal.sql.Template;

/** Statements that read what is registered. */
final class CatalogSql {
  static final Template SYSTEM =
      Template.of(
          """
          -- read_system
          SELECT name,
                 created_at,
                 (SELECT coalesce(max(version), 1)
                  FROM {schema}.migration_log
                  WHERE system_id = 1
                    AND status = 'applied') AS version
          FROM {schema}.system_config
          WHERE id = 1
          """);

  /** Every schema that holds the control plane and lets this role read it. */
  static final Template INSTALLED_SCHEMAS =
      Template.of(
          """
          -- list_installed_schemas
          SELECT space.nspname AS schema
          FROM pg_catalog.pg_namespace AS space
          JOIN pg_catalog.pg_class AS config ON config.relnamespace = space.oid AND config.relname = 'system_config'
          JOIN pg_catalog.pg_class AS log ON log.relnamespace = space.oid AND log.relname = 'migration_log'
          JOIN pg_catalog.pg_attribute AS mark ON mark.attrelid = log.oid AND mark.attname = 'min_compatible_version'
          WHERE config.relkind = 'r'
            AND space.nspname ~ '^[a-z_][a-z0-9_]{0,39}$'
            AND CASE WHEN has_schema_privilege(space.oid, 'USAGE')
                     THEN has_table_privilege(config.oid, 'SELECT') AND has_table_privilege(log.oid, 'SELECT')
                     ELSE false END
          ORDER BY space.nspname
          """);

  static final Template STREAM =
      Template.of(
          """
          -- read_stream
          SELECT id, name, payload_type, partition_size, max_payload_bytes, idempotency_key_ttl_ns,
                 tombstone_ttl_ns, empty_compaction_head_ttl_ns, created_at
          FROM {schema}.stream_config
          WHERE name = :name
          """);

  static final Template STREAMS =
      Template.of(
          """
          -- list_streams
          SELECT id, name, payload_type, partition_size, max_payload_bytes, idempotency_key_ttl_ns,
                 tombstone_ttl_ns, empty_compaction_head_ttl_ns, created_at
          FROM {schema}.stream_config
          -- the same order on every server
          ORDER BY name COLLATE "C"
          """);

  static final Template GROUP =
      Template.of(
          """
          -- read_group
          SELECT consumer_group.id,
                 consumer_group.name,
                 consumer_group.start_position,
                 consumer_group.created_at,
                 worker.metadata
          FROM {schema}.consumer_group_config AS consumer_group
          LEFT JOIN {schema}.worker_config AS worker
            ON worker.consumer_group_id = consumer_group.id
            AND worker.name = 'consumer'
          WHERE consumer_group.stream_id = :stream_id
            AND consumer_group.name = :name
          """);

  static final Template GROUP_SETTINGS =
      Template.of(
          """
          -- read_group_settings
          SELECT consumer_group.start_position,
                 worker.metadata
          FROM {schema}.consumer_group_config AS consumer_group
          LEFT JOIN {schema}.worker_config AS worker
            ON worker.consumer_group_id = consumer_group.id
            AND worker.name = 'consumer'
          WHERE consumer_group.id = :group_id
          """);

  static final Template GROUPS =
      Template.of(
          """
          -- list_groups
          SELECT consumer_group.id,
                 consumer_group.name,
                 consumer_group.start_position,
                 consumer_group.created_at,
                 worker.metadata
          FROM {schema}.consumer_group_config AS consumer_group
          LEFT JOIN {schema}.worker_config AS worker
            ON worker.consumer_group_id = consumer_group.id
            AND worker.name = 'consumer'
          WHERE consumer_group.stream_id = :stream_id
          ORDER BY consumer_group.name COLLATE "C"
          """);

  private CatalogSql() {}
}
