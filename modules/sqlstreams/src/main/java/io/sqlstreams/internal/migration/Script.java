package io.sqlstreams.internal.migration;

import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.internal.schema.MigrationLogSql;
import io.sqlstreams.internal.schema.Step;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import io.sqlstreams.internal.sql.Template;
import java.util.Objects;

/** A step as text that people run by hand, with everything that the library does around it. */
final class Script {
  private final StringBuilder text = new StringBuilder();

  private Script(String title) {
    text.append("-- ").append(title).append("\nBEGIN;\n");
  }

  /** The script of one step, up or down. */
  static String of(Tables tables, Step step, boolean down) {
    int found = down ? step.version() : step.version() - 1;
    Scope where = tables.where();
    Script script =
        new Script(
            tables.subject()
                + ": version "
                + found
                + " to "
                + (down ? step.version() - 1 : step.version()));
    script.add(MigrationSql.LOCK, where);
    script.add(
        MigrationLogSql.of(MigrationSql.REQUIRE_VERSION, step, where).withNumber("found", found),
        where);
    script.add(down ? Objects.requireNonNull(step.down()) : step.up(), where);
    script.add(down ? MigrationLogSql.reverted(step, where) : MigrationLogSql.applied(step, where));
    return script.end();
  }

  /** The script that makes an installation; its streams come with their registration. */
  static String install(Steps steps, Scope system) {
    Script script = new Script("an installation in schema \"" + system.schema() + "\"");
    script.add(MigrationSql.LOCK, system);
    script.add(MigrationSql.CREATE_SCHEMA, system);
    for (Step step : steps.of(MigrationScope.SYSTEM)) {
      script.add(step.up(), system);
      script.add(MigrationLogSql.applied(step, system));
    }
    return script.end();
  }

  private void add(Template template, Scope where) {
    add(template.in(where));
  }

  private void add(Statement statement) {
    String sql = statement.sql().strip();
    text.append(sql).append(sql.endsWith(";") ? "\n" : ";\n");
  }

  private String end() {
    return text.append("COMMIT;\n").toString();
  }
}
