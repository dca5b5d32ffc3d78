package io.sqlstreams.internal.access;

import io.sqlstreams.internal.sql.Template;

/** Statements that find out to whom tables belong. */
final class AccessSql {
  /** Nobody's when there is no such schema. */
  static final Template DATABASE =
      Template.of(
          """
          -- read_owner
          SELECT current_database() AS database,
                 owner.rolname AS owner,
                 owner.rolsuper AS is_superuser
          FROM (SELECT) AS one
          LEFT JOIN (
            SELECT role.rolname,
                   role.rolsuper
            FROM pg_catalog.pg_class AS relation
            JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace
            JOIN pg_catalog.pg_roles AS role ON role.oid = relation.relowner
            WHERE space.nspname = '{schema_name}'
              AND relation.relname = 'stream_config'
          ) AS owner ON true
          """);

  static final Template STREAMS =
      Template.of(
          """
          -- list_stream_ids
          SELECT id, name
          FROM {schema}.stream_config
          ORDER BY id
          """);

  private AccessSql() {}
}
