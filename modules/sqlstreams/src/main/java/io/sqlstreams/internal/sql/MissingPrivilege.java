package io.sqlstreams.internal.sql;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What this role would have needed, when the database has refused something for want of it. */
final class MissingPrivilege {
  private static final String ADVICE =
      ": grant it what 'sqlstreams system grants' prints, or use another role";

  /** When nothing more is known. */
  static final String GENERAL =
      "grant the privilege to this role ('sqlstreams system grants' prints what each needs), or use another role";

  /**
   * The object is the one that the refusal names, in whatever language the server speaks. Of
   * several the longest name: that of a table may be a part of its sequence's.
   */
  private static final Template LOOK =
      Template.of(
          """
          -- find_missing_privilege
          SELECT object.name,
                 (SELECT string_agg(privilege.name, ', ' ORDER BY privilege.place)
                  FROM unnest(object.privileges) WITH ORDINALITY AS privilege (name, place)
                  WHERE NOT CASE object.kind
                              WHEN 'S' THEN has_sequence_privilege(object.oid, privilege.name)
                              WHEN 'n' THEN has_schema_privilege(object.oid, privilege.name)
                              ELSE has_table_privilege(object.oid, privilege.name) END) AS missing
          FROM (
            SELECT relation.oid,
                   relation.relkind::text AS kind,
                   relation.relname::text AS found,
                   CASE relation.relkind WHEN 'S' THEN 'sequence ' ELSE 'table ' END
                     || quote_ident(space.nspname) || '.' || quote_ident(relation.relname) AS name,
                   CASE relation.relkind WHEN 'S' THEN ARRAY['USAGE', 'SELECT']
                                         ELSE ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE'] END AS privileges
            FROM pg_catalog.pg_class AS relation
            JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace
            WHERE space.nspname = '{schema_name}'
              AND relation.relkind IN ('r', 'p', 'S')
            UNION ALL
            SELECT space.oid,
                   'n',
                   space.nspname::text,
                   'schema ' || quote_ident(space.nspname),
                   ARRAY['USAGE', 'CREATE']
            FROM pg_catalog.pg_namespace AS space
            WHERE space.nspname = '{schema_name}'
          ) AS object
          WHERE CASE WHEN object.found ~ '^[a-z0-9_]+$'
                     THEN :refusal ~ ('\\m' || object.found || '\\M')
                     -- not one of ours, and perhaps no regular expression
                     ELSE false END
          ORDER BY length(object.found) DESC
          LIMIT 1
          """);

  private MissingPrivilege() {}

  /** Names the object and the privileges, and says where they come from. */
  static String describe(Connection connection, String schema, String refusal) throws SQLException {
    try (Call call = LOOK.in(Scope.system(schema)).on(connection);
        ResultSet row = call.set("refusal", refusal).query()) {
      if (!row.next()) {
        return GENERAL;
      }
      String missing = row.getString("missing");
      return "this role "
          + (missing == null ? "isn't the owner of " : "has no " + missing + " on ")
          + row.getString("name")
          + ADVICE;
    }
  }
}
