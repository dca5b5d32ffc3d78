package io.sqlstreams.internal.catalog;

import io.sqlstreams.internal.sql.Template;

/** Statements that change what is registered. */
final class RegistrySql {
  static final Template RENAME_SYSTEM =
      Template.of(
          """
          -- rename_system
          UPDATE {schema}.system_config
          SET name = :name,
              updated_at = clock_timestamp()
          WHERE id = 1
            AND name <> :name
          """);

  static final Template INSERT_STREAM =
      Template.of(
              """
          -- insert_stream
          INSERT INTO {schema}.stream_config (
            system_id, name, payload_type, partition_size, max_payload_bytes, idempotency_key_ttl_ns, tombstone_ttl_ns,
            empty_compaction_head_ttl_ns, retention_ns, allow_drop_past_committed)
          VALUES (1, :name, :payload_type, :partition_size, :max_payload_bytes, :idempotency_key_ttl_ns, :tombstone_ttl_ns,
                  :empty_head_ttl_ns, nullif(:retention_ns, 0), :allow_drop_past_committed)
          RETURNING {columns}
          """)
          .withPart("columns", CatalogSql.STREAM_COLUMNS);

  static final Template INSERT_UPKEEP =
      Template.of(
          """
          -- insert_stream_upkeep
          INSERT INTO {schema}.stream_upkeep (stream_id)
          VALUES (:stream_id)
          """);

  static final Template UPDATE_STREAM =
      Template.of(
              """
          -- update_stream
          UPDATE {schema}.stream_config
          SET max_payload_bytes = :max_payload_bytes,
              idempotency_key_ttl_ns = :idempotency_key_ttl_ns,
              tombstone_ttl_ns = :tombstone_ttl_ns,
              empty_compaction_head_ttl_ns = :empty_head_ttl_ns,
              retention_ns = nullif(:retention_ns, 0),
              allow_drop_past_committed = :allow_drop_past_committed,
              updated_at = clock_timestamp()
          WHERE id = :stream_id
          RETURNING {columns}
          """)
          .withPart("columns", CatalogSql.STREAM_COLUMNS);

  static final Template RENAME_STREAM =
      Template.of(
              """
          -- rename_stream
          UPDATE {schema}.stream_config
          SET name = :name,
              updated_at = clock_timestamp()
          WHERE id = :stream_id
          RETURNING {columns}
          """)
          .withPart("columns", CatalogSql.STREAM_COLUMNS);

  static final Template LOG_STREAM =
      Template.of(
          """
          -- log_stream
          INSERT INTO {schema}.stream_config_log (
            stream_id, name, payload_type, partition_size, max_payload_bytes,
            retention_ns, allow_drop_past_committed, idempotency_key_ttl_ns, empty_compaction_head_ttl_ns,
            tombstone_ttl_ns)
          SELECT id, name, payload_type, partition_size, max_payload_bytes,
                 retention_ns, allow_drop_past_committed, idempotency_key_ttl_ns, empty_compaction_head_ttl_ns,
                 tombstone_ttl_ns
          FROM {schema}.stream_config
          WHERE id = :stream_id
          """);

  /**
   * Before the stream's tables, as a worker takes them: it locks its instance, and then what it
   * works on.
   */
  static final Template DELETE_STREAM_WORKERS =
      Template.of(
          """
          -- delete_stream_workers
          DELETE FROM {schema}.worker_config
          WHERE stream_id = :stream_id
          """);

  static final Template DELETE_STREAM =
      Template.of(
          """
          -- delete_stream
          -- its groups, workers and logs go with it
          DELETE FROM {schema}.stream_config
          WHERE id = :stream_id
          """);

  static final Template INSERT_GROUP =
      Template.of(
          """
          -- insert_group
          INSERT INTO {schema}.consumer_group_config (stream_id, name, start_position)
          VALUES (:stream_id, :name, :start_position)
          RETURNING id, created_at
          """);

  /**
   * Nothing is proven yet of the ids that the group begins above: should it be rewound below them,
   * the writers of those that are missing may still be open.
   */
  static final Template INSERT_CURSOR =
      Template.of(
          """
          -- insert_cursor
          INSERT INTO {schema}.consumer_group_cursor_{stream} (consumer_group_id, claimed, committed, settled_head)
          VALUES (:group_id, :position, :position, 0)
          """);

  static final Template INSERT_WORKER =
      Template.of(
          """
          -- insert_group_worker
          INSERT INTO {schema}.worker_config (consumer_group_id, name, metadata, target_instances)
          VALUES (:group_id, 'consumer', :metadata::jsonb, -1)
          """);

  static final Template UPDATE_WORKER =
      Template.of(
          """
          -- update_group_worker
          UPDATE {schema}.worker_config
          SET metadata = :metadata::jsonb,
              updated_at = clock_timestamp()
          WHERE consumer_group_id = :group_id
            AND name = 'consumer'
          """);

  static final Template LOG_WORKER =
      Template.of(
          """
          -- log_group_worker
          INSERT INTO {schema}.worker_config_log (worker_config_id, metadata, previous, target_instances)
          SELECT worker.id,
                 worker.metadata,
                 (SELECT earlier.metadata
                  FROM {schema}.worker_config_log AS earlier
                  WHERE earlier.worker_config_id = worker.id
                  ORDER BY earlier.id DESC
                  LIMIT 1),
                 worker.target_instances
          FROM {schema}.worker_config AS worker
          WHERE worker.consumer_group_id = :group_id
            AND worker.name = 'consumer'
          """);

  static final Template RENAME_GROUP =
      Template.of(
          """
          -- rename_group
          UPDATE {schema}.consumer_group_config
          SET name = :name,
              updated_at = clock_timestamp()
          WHERE id = :group_id
          """);

  static final Template DELETE_GROUP =
      Template.of(
          """
          -- delete_group
          DELETE FROM {schema}.consumer_group_config
          WHERE id = :group_id
          """);

  /** Nothing is claimed without it. */
  static final Template DELETE_CURSOR =
      Template.of(
          """
          -- delete_group_cursor
          DELETE FROM {schema}.consumer_group_cursor_{stream}
          WHERE consumer_group_id = :group_id
          """);

  static final Template DELETE_BINDINGS =
      Template.of(
          """
          -- delete_group_bindings
          DELETE FROM {schema}.binding_config_{stream}
          WHERE consumer_group_id = :group_id
          """);

  static final Template DELETE_BINDING_LOG =
      Template.of(
          """
          -- delete_group_binding_log
          DELETE FROM {schema}.binding_config_log_{stream}
          WHERE consumer_group_id = :group_id
          """);

  /**
   * Before the rows that a completion writes: it holds its lease until it commits, so they are seen
   * afterwards.
   */
  static final Template DELETE_CLAIM_LEASES =
      Template.of(
          """
          -- delete_group_claim_leases
          DELETE FROM {schema}.claim_lease_{stream}
          WHERE consumer_group_id = :group_id
          """);

  static final Template DELETE_EXCEPTIONS =
      Template.of(
          """
          -- delete_group_exceptions
          DELETE FROM {schema}.exception_queue_{stream}
          WHERE consumer_group_id = :group_id
          """);

  static final Template DELETE_DELIVERIES =
      Template.of(
          """
          -- delete_group_deliveries
          DELETE FROM {schema}.delivery_log_{stream}
          WHERE consumer_group_id = :group_id
          """);

  static final Template DELETE_OPERATIONS =
      Template.of(
          """
          -- delete_group_operations
          DELETE FROM {schema}.operation_log_{stream}
          WHERE consumer_group_id = :group_id
          """);

  private RegistrySql() {}
}
