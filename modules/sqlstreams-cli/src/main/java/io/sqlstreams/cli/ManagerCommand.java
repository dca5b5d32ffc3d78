package io.sqlstreams.cli;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.Upkeep;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The background work in a process of its own. */
@Command(
    name = "manager",
    description = "The background work, where no process consumes: run.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "VERB",
    footer = {"", "Examples:", "  sqlstreams manager run"})
final class ManagerCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Command(
      description = {
        "Do the installation's background work until Ctrl-C: partitions ahead, retention, sweeps, schedules.",
        "Any number of processes may run it; they share the workers among them."
      },
      mixinStandardHelpOptions = true)
  int run(@Mixin ConnectionOptions database) {
    return database.withPool(this::run);
  }

  private int run(SqlStreams client) {
    Upkeep upkeep = client.manager().run();
    spec.commandLine().getOut().println("the manager runs; Ctrl-C ends it");
    spec.commandLine().getOut().flush();
    return UntilStopped.run(upkeep::stop, upkeep::awaitStopped);
  }
}
