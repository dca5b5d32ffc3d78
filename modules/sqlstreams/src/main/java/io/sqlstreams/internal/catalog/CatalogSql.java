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

  /** What {@link Rows#stream} reads. */
  static final String STREAM_COLUMNS =
      """
      id, name, payload_type, partition_size, max_payload_bytes, idempotency_key_ttl_ns,
                 tombstone_ttl_ns, empty_compaction_head_ttl_ns, retention_ns, allow_drop_past_committed, created_at
      """;

  static final Template STREAM =
      Template.of(
              """
          -- read_stream
          SELECT {columns}
          FROM {schema}.stream_config
          WHERE name = :name
          """)
          .withPart("columns", STREAM_COLUMNS);

  static final Template STREAM_BY_ID =
      Template.of(
              """
          -- read_stream_by_id
          SELECT {columns}
          FROM {schema}.stream_config
          WHERE id = :stream_id
          """)
          .withPart("columns", STREAM_COLUMNS);

  static final Template STREAMS =
      Template.of(
              """
          -- list_streams
          SELECT {columns}
          FROM {schema}.stream_config
          -- the same order on every server
          ORDER BY name COLLATE "C"
          """)
          .withPart("columns", STREAM_COLUMNS);

  /** A group's bindings in the order of their declaration, as a document; null when it has none. */
  private static final String BINDINGS =
      """
      (SELECT json_agg(coalesce(to_json(binding.pattern), binding.headers::JSON) ORDER BY binding.id)
       FROM {schema}.binding_config_{stream} AS binding
       WHERE binding.consumer_group_id = consumer_group.id)
      """;

  static final Template GROUP =
      Template.of(
              """
          -- read_group
          SELECT consumer_group.id,
                 consumer_group.name,
                 consumer_group.start_position,
                 consumer_group.created_at,
                 worker.metadata,
                 cursor.schema_versions,
                 {bindings} AS bindings
          FROM {schema}.consumer_group_config AS consumer_group
          LEFT JOIN {schema}.worker_config AS worker
            ON worker.consumer_group_id = consumer_group.id
            AND worker.name = 'consumer'
          LEFT JOIN {schema}.consumer_group_cursor_{stream} AS cursor ON cursor.consumer_group_id = consumer_group.id
          WHERE consumer_group.stream_id = :stream_id
            AND consumer_group.name = :name
          """)
          .withPart("bindings", BINDINGS);

  /** How far the set that a group reads has come into force. */
  static final Template FILTER =
      Template.of(
              """
          -- read_filter
          SELECT cursor.schema_versions,
                 cursor.filter_above,
                 EXISTS (
                   SELECT
                   FROM {schema}.claim_lease_{stream} AS lease
                   WHERE lease.consumer_group_id = consumer_group.id
                     -- every open range is above committed: dead rows of finished ones are not walked over
                     AND lease.low >= cursor.committed
                     AND lease.filter < cursor.filter) AS is_waiting,
                 (SELECT log.declared_at
                  FROM {schema}.binding_config_log_{stream} AS log
                  WHERE log.consumer_group_id = consumer_group.id
                    AND log.result <> 'joined'
                  ORDER BY log.id DESC
                  LIMIT 1) AS declared_at,
                 {bindings} AS bindings
          FROM {schema}.consumer_group_config AS consumer_group
          JOIN {schema}.consumer_group_cursor_{stream} AS cursor ON cursor.consumer_group_id = consumer_group.id
          WHERE consumer_group.id = :group_id
          """)
          .withPart("bindings", BINDINGS);

  static final Template GROUPS =
      Template.of(
              """
          -- list_groups
          SELECT consumer_group.id,
                 consumer_group.name,
                 consumer_group.start_position,
                 consumer_group.created_at,
                 worker.metadata,
                 cursor.schema_versions,
                 {bindings} AS bindings
          FROM {schema}.consumer_group_config AS consumer_group
          LEFT JOIN {schema}.worker_config AS worker
            ON worker.consumer_group_id = consumer_group.id
            AND worker.name = 'consumer'
          LEFT JOIN {schema}.consumer_group_cursor_{stream} AS cursor ON cursor.consumer_group_id = consumer_group.id
          WHERE consumer_group.stream_id = :stream_id
          ORDER BY consumer_group.name COLLATE "C"
          """)
          .withPart("bindings", BINDINGS);

  private CatalogSql() {}
}
