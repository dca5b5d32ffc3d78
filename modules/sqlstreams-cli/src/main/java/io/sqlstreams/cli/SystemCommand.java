package io.sqlstreams.cli;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.SystemInfo;
import io.sqlstreams.config.AccessRole;
import io.sqlstreams.error.NotInstalledException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The installation itself. */
@Command(
    name = "system",
    description = "The installation in a schema: register, get, list, rename, grants, destroy.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "VERB",
    footer = {
      "",
      "Examples:",
      "  sqlstreams system register --schema streams",
      "  sqlstreams system list --output json",
      "  sqlstreams system grants --role application shop_app | psql shop",
      "  sqlstreams system destroy --schema streams --yes"
    })
final class SystemCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Command(
      description = "Create the schema and its control-plane tables unless they are there.",
      mixinStandardHelpOptions = true)
  void register(@Mixin ConnectionOptions database) {
    SystemInfo system = database.with(client -> client.system().register());
    println("registered the installation \"" + system.name() + "\" in schema " + system.schema());
  }

  @Command(description = "Show the installation in the schema.", mixinStandardHelpOptions = true)
  void get(@Mixin ConnectionOptions database, @Mixin Output output) {
    output.one(Fields.ofSystem(database.with(client -> require(client, database))));
  }

  @Command(
      description = "List every installation in the database that the role can see.",
      mixinStandardHelpOptions = true)
  void list(@Mixin ConnectionOptions database, @Mixin Output output) {
    output.all(
        database.with(client -> client.system().list()).stream().map(Fields::ofSystem).toList(),
        "no installation: 'sqlstreams system register' makes one");
  }

  @Command(
      description = "Give the installation another name, for people; the schema keeps its own.",
      mixinStandardHelpOptions = true)
  void rename(
      @Mixin ConnectionOptions database,
      @Parameters(paramLabel = "NEW_NAME", description = "The new name.") String name) {
    SystemInfo system = database.with(client -> client.system().rename(name));
    println(
        "the installation in schema "
            + system.schema()
            + " is now named \""
            + system.name()
            + "\"");
  }

  @Command(
      description = "Drop every table of the installation, every stream and message with them.",
      mixinStandardHelpOptions = true)
  void destroy(@Mixin ConnectionOptions database, @Mixin Consent consent) {
    database.with(client -> require(client, database));
    consent.requireToDelete("every stream and message in schema \"" + database.schema() + "\"");
    database.withDestroyAllowed(client -> client.system().destroy());
    println("destroyed the installation in schema " + database.schema());
  }

  @Command(
      description = {
        "Print the GRANTs that a database role needs, for the owner of the tables to run.",
        "Nothing is changed."
      },
      mixinStandardHelpOptions = true)
  void grants(
      @Mixin ConnectionOptions database,
      @Option(
              names = "--role",
              paramLabel = "KIND",
              required = true,
              description = "What it is to do: ${COMPLETION-CANDIDATES}.")
          AccessRole access,
      @Parameters(paramLabel = "NAME", description = "The database role.") String name,
      @Option(names = "--stream", paramLabel = "NAME", description = "This stream alone.")
          @Nullable String stream) {
    database
        .with(
            client ->
                stream == null
                    ? client.system().grants(access, name)
                    : client.system().grants(access, name, stream))
        .forEach(this::println);
  }

  private static SystemInfo require(SqlStreams client, ConnectionOptions database) {
    return client.system().get().orElseThrow(() -> new NotInstalledException(database.schema()));
  }

  private void println(String line) {
    spec.commandLine().getOut().println(line);
  }
}
