package io.sqlstreams.internal.catalog;

import io.sqlstreams.internal.sql.Template;

/** Statements that change what a group reads of its stream. */
final class BindingSql {
  /**
   * Begins a new set, for every message above where the group stands.
   *
   * <p>A claim holds the cursor row's lock until it has committed, so none is under way here; and
   * one that waits for the lock finds another number than it has seen, and takes nothing.
   */
  static final Template CHANGE =
      Template.of(
          """
          -- change_filter
          UPDATE {schema}.consumer_group_cursor_{stream} AS cursor
          SET filter = cursor.filter + 1,
              filter_above = cursor.claimed,
              schema_versions = :schema_versions::INT[]
          WHERE cursor.consumer_group_id = :group_id
          """);

  static final Template DELETE =
      Template.of(
          """
          -- delete_bindings
          DELETE FROM {schema}.binding_config_{stream}
          WHERE consumer_group_id = :group_id
          """);

  static final Template INSERT =
      Template.of(
          """
          -- insert_bindings
          INSERT INTO {schema}.binding_config_{stream} (consumer_group_id, pattern, regex, headers)
          SELECT :group_id, binding.pattern, binding.regex, binding.headers::JSONB
          FROM unnest(:patterns::TEXT[], :regexes::TEXT[], :headers::TEXT[]) WITH ORDINALITY AS binding (pattern, regex, headers, position)
          ORDER BY binding.position
          """);

  /**
   * Notes a declaration, with the set that holds now. In a statement of its own after {@link
   * #CHANGE}, so that the leases of every claim before it are seen. That a set was declared again
   * is noted once: each process does it whenever it starts.
   */
  static final Template LOG =
      Template.of(
          """
          -- log_bindings
          INSERT INTO {schema}.binding_config_log_{stream}
            (consumer_group_id, filter, patterns, headers, schema_versions, result, above)
          SELECT cursor.consumer_group_id,
                 cursor.filter,
                 ARRAY(SELECT binding.pattern
                       FROM {schema}.binding_config_{stream} AS binding
                       WHERE binding.consumer_group_id = cursor.consumer_group_id
                         AND binding.pattern IS NOT NULL
                       ORDER BY binding.id),
                 ARRAY(SELECT binding.headers
                       FROM {schema}.binding_config_{stream} AS binding
                       WHERE binding.consumer_group_id = cursor.consumer_group_id
                         AND binding.headers IS NOT NULL
                       ORDER BY binding.id),
                 cursor.schema_versions,
                 CASE
                   WHEN :is_repeated THEN 'joined'
                   WHEN EXISTS (
                     SELECT
                     FROM {schema}.claim_lease_{stream} AS lease
                     WHERE lease.consumer_group_id = cursor.consumer_group_id
                       -- every open range is above committed
                       AND lease.low >= cursor.committed
                       AND lease.filter < cursor.filter)
                   THEN 'waiting'
                   ELSE 'installed'
                 END,
                 cursor.filter_above
          FROM {schema}.consumer_group_cursor_{stream} AS cursor
          WHERE cursor.consumer_group_id = :group_id
            AND (NOT :is_repeated
                 OR (SELECT log.result
                     FROM {schema}.binding_config_log_{stream} AS log
                     WHERE log.consumer_group_id = cursor.consumer_group_id
                     ORDER BY log.id DESC
                     LIMIT 1) IS DISTINCT FROM 'joined')
          """);

  static final Template IS_REPEATED =
      Template.of(
          """
          -- read_last_declaration
          SELECT coalesce(
            (SELECT log.result = 'joined'
             FROM {schema}.binding_config_log_{stream} AS log
             WHERE log.consumer_group_id = :group_id
             ORDER BY log.id DESC
             LIMIT 1), false) AS is_repeated
          """);

  private BindingSql() {}
}
