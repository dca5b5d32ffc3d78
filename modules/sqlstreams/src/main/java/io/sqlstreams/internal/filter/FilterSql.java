package io.sqlstreams.internal.filter;

/**
 * A group's filter, and whether it lets a message through: as parts of statements, so that a claim
 * and whoever counts or tells what it would take never differ.
 */
public final class FilterSql {
  /** Where the group's id is in {@link #FILTER} when it is no parameter; see {@link #filterOf}. */
  private static final String GROUP = ":group";

  /**
   * One row: the filter in force as the statement's snapshot shows it.
   *
   * <p>Patterns are compared with {@code LIKE}: it needs no preparation. The server keeps 32
   * prepared regular expressions a session, and a group with more bindings than that would have all
   * of them prepared anew for each message.
   */
  public static final String FILTER =
      """
      SELECT (SELECT cursor.schema_versions
              FROM {schema}.consumer_group_cursor_{stream} AS cursor
              WHERE cursor.consumer_group_id = :group) AS schema_versions,
             count(*) > 0 AS is_bound,
             array_agg(replace(replace(replace(replace(binding.pattern, E'\\\\', E'\\\\\\\\'), '%', E'\\\\%'), '_', E'\\\\_'), '*', '%'))
               FILTER (WHERE binding.pattern IS NOT NULL) AS patterns,
             array_agg(binding.headers) FILTER (WHERE binding.headers IS NOT NULL) AS headers
      FROM {schema}.binding_config_{stream} AS binding
      WHERE binding.consumer_group_id = :group
      """;

  /**
   * Whether {@code log}, a message, is let through by {@code filter}; true or false, never null.
   */
  public static final String MATCHES =
      """
      ((filter.schema_versions IS NULL OR log.schema_version = ANY (filter.schema_versions))
       AND (NOT filter.is_bound
            OR coalesce(log.routing_key LIKE ANY (filter.patterns), false)
            OR coalesce(log.headers @> ANY (filter.headers), false)))
      """;

  private FilterSql() {}

  /**
   * {@link #FILTER} of another group than {@code :group}.
   *
   * @param group an expression that gives its id
   */
  public static String filterOf(String group) {
    return FILTER.replace(GROUP, group);
  }
}
