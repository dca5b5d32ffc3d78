package io.sqlstreams.cli;

import io.sqlstreams.MigrationStep;
import io.sqlstreams.TablesVersion;
import io.sqlstreams.config.Migration;
import io.sqlstreams.config.MigrationScope;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The versions of the tables. */
@Command(
    name = "migrate",
    description = "The versions of the tables: status, up, down, sql.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "VERB",
    footer = {
      "",
      "Examples:",
      "  sqlstreams migrate status --output json",
      "  sqlstreams migrate up",
      "  sqlstreams migrate sql | psql -v ON_ERROR_STOP=1 shop",
      "  sqlstreams migrate down --scope stream --to 1 --yes"
    })
final class MigrateCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Command(
      description = "Show the version of the control plane and of each stream.",
      mixinStandardHelpOptions = true)
  void status(@Mixin ConnectionOptions database, @Mixin Output output) {
    output.all(
        database.with(client -> client.system().migrations()).stream()
            .map(MigrateCommand::fields)
            .toList(),
        "nothing is installed");
  }

  @Command(
      description = "Bring all tables to the newest version, or those of a scope to another one.",
      mixinStandardHelpOptions = true)
  void up(@Mixin ConnectionOptions database, @Mixin Target target) {
    migrate(database, target.up(spec));
  }

  @Command(
      description = "Take versions back; what they have added is lost.",
      mixinStandardHelpOptions = true)
  void down(@Mixin ConnectionOptions database, @Mixin Target target, @Mixin Consent consent) {
    Migration wanted = target.down(spec);
    consent.requireToDelete("what the versions above " + wanted.version() + " have added");
    migrate(database, wanted);
  }

  @Command(
      description = {
        "Print the SQL that 'up' would run now, each step as a transaction,",
        "for whoever may change the tables. With --down, that of 'down'."
      },
      mixinStandardHelpOptions = true)
  void sql(
      @Mixin ConnectionOptions database,
      @Mixin Target target,
      @Option(names = "--down", description = "That of 'down'; with --scope and --to.")
          boolean down) {
    Migration wanted = down ? target.down(spec) : target.up(spec);
    List<String> scripts = database.with(client -> client.system().migrationSql(wanted));
    if (scripts.isEmpty()) {
      println("-- nothing to do");
    }
    scripts.forEach(this::println);
  }

  private void migrate(ConnectionOptions database, Migration wanted) {
    List<MigrationStep> steps = database.with(client -> client.system().migrate(wanted));
    for (MigrationStep step : steps) {
      println(
          (step.stream() == null ? "control plane" : "stream " + step.stream())
              + ": version "
              + step.version()
              + (step.down() ? " taken back" : " applied"));
    }
    if (steps.isEmpty()) {
      println("nothing to do");
    }
  }

  private static Map<String, Object> fields(TablesVersion tables) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("scope", tables.scope().name().toLowerCase(Locale.ROOT));
    fields.put("stream", tables.stream() == null ? "-" : tables.stream());
    fields.put("version", tables.version());
    fields.put("newest", tables.newest());
    fields.put("state", tables.state().name().toLowerCase(Locale.ROOT).replace('_', ' '));
    fields.put("unfinished", tables.unfinished());
    fields.put("error", tables.error() == null ? "-" : tables.error());
    return fields;
  }

  private void println(String line) {
    spec.commandLine().getOut().println(line);
  }

  /** Where to. */
  static final class Target {
    @Option(
        names = "--scope",
        paramLabel = "SCOPE",
        description = "system (the control plane) or stream (the tables of every stream).")
    private @Nullable MigrationScope scope;

    @Option(names = "--to", paramLabel = "VERSION", description = "The version to bring it to.")
    private @Nullable Integer version;

    Migration up(CommandSpec spec) {
      if (scope == null && version == null) {
        return Migration.up();
      }
      return requireBoth(spec, false);
    }

    Migration down(CommandSpec spec) {
      return requireBoth(spec, true);
    }

    private Migration requireBoth(CommandSpec spec, boolean down) {
      if (scope == null || version == null) {
        throw new ParameterException(
            spec.commandLine(),
            "--scope and --to belong together: the control plane and the streams count apart");
      }
      return down ? Migration.downTo(scope, version) : Migration.upTo(scope, version);
    }
  }
}
