package io.sqlstreams.internal.schema;

import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import io.sqlstreams.internal.sql.Template;

/**
 * What {@code migration_log} keeps of the steps. No parameters: the same text is printed for people
 * who run it by hand.
 */
public final class MigrationLogSql {
  /** A row that an interrupted attempt has left is taken over. */
  private static final Template APPLIED =
      Template.of(
          """
          -- record_step
          WITH continued AS (
            UPDATE {schema}.migration_log
            SET status = 'applied',
                error = NULL,
                updated_at = clock_timestamp()
            WHERE {owner} = {owner_id}
              AND version = {version}
              AND status IN ('started', 'failed')
            RETURNING id
          )
          INSERT INTO {schema}.migration_log ({owner}, version, min_compatible_version, status)
          SELECT {owner_id}, {version}, {min_compatible_version}, 'applied'
          WHERE NOT EXISTS (SELECT FROM continued)
          """);

  private static final Template REVERTED =
      Template.of(
          """
          -- record_step_back
          UPDATE {schema}.migration_log
          SET status = 'reverted',
              updated_at = clock_timestamp()
          WHERE {owner} = {owner_id}
            AND version = {version}
            AND status = 'applied'
          """);

  private MigrationLogSql() {}

  /** Records that the step was applied, in its transaction. */
  public static Statement applied(Step step, Scope tables) {
    return of(APPLIED, step, tables).in(tables);
  }

  /** Records that the step was taken back, in its transaction. */
  public static Statement reverted(Step step, Scope tables) {
    return of(REVERTED, step, tables).in(tables);
  }

  /** A statement about one step on the tables that it changes. */
  public static Template of(Template template, Step step, Scope tables) {
    boolean isSystem = step.scope() == MigrationScope.SYSTEM;
    return template
        .withPart("owner", isSystem ? "system_id" : "stream_id")
        .withNumber("owner_id", isSystem ? 1 : tables.streamId())
        .withNumber("version", step.version())
        .withNumber("min_compatible_version", step.minCompatibleVersion());
  }
}
