package io.sqlstreams.internal.fleet;

import io.sqlstreams.internal.sql.Template;

/** Statements that declare workers, and change what is declared of them. */
final class DeclarationSql {
  /**
   * Declares the workers that are missing: of the system, of one stream, or, for stream 0, of
   * everything. What is there stays as it is, whoever has changed it. Writes and locks nothing when
   * none is missing.
   */
  static final Template DECLARE_MISSING =
      Template.of(
          """
          -- declare_workers
          WITH
          kind AS MATERIALIZED (
            SELECT kind.name, kind.target_instances, kind.is_of_stream
            FROM unnest(:names::TEXT[], :targets::INT[], :of_stream::BOOLEAN[]) AS kind (name, target_instances, is_of_stream)
          ),
          of_system AS MATERIALIZED (
            SELECT system.id AS system_id, NULL::BIGINT AS stream_id, kind.name, kind.target_instances
            FROM {schema}.system_config AS system
            JOIN kind ON NOT kind.is_of_stream
            WHERE NOT EXISTS (
              SELECT
              FROM {schema}.worker_config AS worker
              WHERE worker.system_id = system.id
                AND worker.name = kind.name)
          ),
          of_streams AS MATERIALIZED (
            SELECT NULL::BIGINT AS system_id, stream.id AS stream_id, kind.name, kind.target_instances
            FROM {schema}.stream_config AS stream
            JOIN kind ON kind.is_of_stream
            WHERE (:stream_id = 0 OR stream.id = :stream_id)
              AND NOT EXISTS (
                SELECT
                FROM {schema}.worker_config AS worker
                WHERE worker.stream_id = stream.id
                  AND worker.name = kind.name)
            -- one that is being destroyed needs none, and isn't waited for
            FOR KEY SHARE OF stream SKIP LOCKED
          ),
          declared AS (
            INSERT INTO {schema}.worker_config (system_id, stream_id, name, target_instances)
            SELECT missing.system_id, missing.stream_id, missing.name, missing.target_instances
            FROM (
              SELECT of_system.system_id, of_system.stream_id, of_system.name, of_system.target_instances FROM of_system
              UNION ALL
              SELECT of_streams.system_id, of_streams.stream_id, of_streams.name, of_streams.target_instances FROM of_streams
            ) AS missing
            -- two that declare at once wait for each other only if they do it in different orders
            ORDER BY missing.stream_id, missing.name
            -- declared meanwhile by another process
            ON CONFLICT DO NOTHING
            RETURNING id, metadata, target_instances
          )
          INSERT INTO {schema}.worker_config_log (worker_config_id, metadata, previous, target_instances)
          SELECT declared.id, declared.metadata, NULL, declared.target_instances
          FROM declared
          """);

  /** A worker of the system, or, for a stream other than 0, of that stream; locks it. */
  static final Template LOCK =
      Template.of(
          """
          -- lock_worker
          SELECT worker.id, worker.target_instances
          FROM {schema}.worker_config AS worker
          WHERE worker.name = :name
            AND CASE :stream_id WHEN 0 THEN worker.system_id = 1 ELSE worker.stream_id = :stream_id END
          FOR NO KEY UPDATE
          """);

  /** Changes how many processes do the worker's work, and records it. */
  static final Template SET_TARGET =
      Template.of(
          """
          -- set_worker_target
          WITH
          changed AS (
            UPDATE {schema}.worker_config AS worker
            SET target_instances = :target,
                updated_at = clock_timestamp()
            WHERE worker.id = :worker
            RETURNING worker.id, worker.metadata, worker.target_instances
          )
          INSERT INTO {schema}.worker_config_log (worker_config_id, metadata, previous, target_instances)
          SELECT changed.id, changed.metadata, changed.metadata, changed.target_instances
          FROM changed
          """);

  /** How many processes did the worker's work when it was last not suspended. */
  static final Template EARLIER_TARGET =
      Template.of(
          """
          -- read_earlier_worker_target
          SELECT log.target_instances
          FROM {schema}.worker_config_log AS log
          WHERE log.worker_config_id = :worker
            AND log.target_instances <> 0
          ORDER BY log.id DESC
          LIMIT 1
          """);

  private DeclarationSql() {}
}
