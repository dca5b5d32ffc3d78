package io.sqlstreams.internal.fleet;

import io.sqlstreams.internal.sql.Template;

/** Statements by which people look at workers. */
final class OfficeSql {
  /**
   * The workers of the system and of streams, or of one owner, with their instances: a row for
   * each, or one without.
   */
  static final Template LIST =
      Template.of(
          """
          -- list_workers
          SELECT worker.id,
                 worker.name,
                 stream.name AS stream,
                 worker.target_instances,
                 worker.metadata,
                 (SELECT log.expires_at
                  FROM {schema}.worker_instance_log AS log
                  WHERE log.worker_config_id = worker.id
                  ORDER BY log.id DESC
                  LIMIT 1) AS held_until,
                 instance.attempts,
                 instance.created_at,
                 instance.expires_at
          FROM {schema}.worker_config AS worker
          LEFT JOIN {schema}.stream_config AS stream ON stream.id = worker.stream_id
          LEFT JOIN {schema}.worker_instance AS instance
            ON instance.worker_config_id = worker.id
            AND instance.expires_at > clock_timestamp()
          -- a group's row is its settings
          WHERE worker.consumer_group_id IS NULL
            AND CASE WHEN :stream_id = 0 THEN worker.system_id = 1
                     WHEN :stream_id > 0 THEN worker.stream_id = :stream_id
                     ELSE true END
            AND (:name::TEXT IS NULL OR worker.name = :name)
          ORDER BY stream.name COLLATE "C" NULLS FIRST, worker.name COLLATE "C", instance.id
          """);

  private OfficeSql() {}
}
