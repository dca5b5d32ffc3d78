package io.sqlstreams.cli;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.WorkerHandle;
import io.sqlstreams.WorkerInfo;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The background workers. */
@Command(
    name = "worker",
    description = "Background workers of the system and of streams: list, get, suspend, resume.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "VERB",
    footer = {
      "",
      "Examples:",
      "  sqlstreams worker list",
      "  sqlstreams worker get cursor_advancer --output json",
      "  sqlstreams worker suspend stream_janitor --stream orders"
    })
final class WorkerCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  /** Which worker a verb is about. */
  static final class Name {
    @Parameters(
        paramLabel = "WORKER",
        description = "The worker's name, as 'worker list' shows it.")
    private String worker = "";

    @Option(
        names = "--stream",
        paramLabel = "STREAM",
        description = "The stream that it works for; without it, the system.")
    private @Nullable String stream;

    WorkerHandle of(SqlStreams client) {
      return stream == null ? client.system().worker(worker) : client.stream(stream).worker(worker);
    }

    @Override
    public String toString() {
      return worker + (stream == null ? " of the system" : " of stream \"" + stream + "\"");
    }
  }

  @Command(
      description = "List every worker, and who does its work.",
      mixinStandardHelpOptions = true)
  void list(@Mixin ConnectionOptions database, @Mixin Output output) {
    output.all(
        database.with(SqlStreams::workers).stream().map(Fields::ofWorker).toList(),
        "no worker: 'sqlstreams system register' declares them");
  }

  @Command(description = "Show one worker.", mixinStandardHelpOptions = true)
  void get(@Mixin ConnectionOptions database, @Mixin Output output, @Mixin Name name) {
    output.one(Fields.ofWorker(database.with(client -> name.of(client).status())));
  }

  @Command(
      description = {
        "Suspend a worker in all processes until it is resumed.",
        "A turn that runs comes to its end first."
      },
      mixinStandardHelpOptions = true)
  void suspend(@Mixin ConnectionOptions database, @Mixin Name name) {
    WorkerInfo worker = database.with(client -> name.of(client).suspend());
    println(
        "suspended "
            + name
            + (worker.instances().isEmpty()
                ? ""
                : "; " + worker.instances().size() + " processes are still to notice"));
  }

  @Command(description = "Let a suspended worker run again.", mixinStandardHelpOptions = true)
  void resume(@Mixin ConnectionOptions database, @Mixin Name name) {
    WorkerInfo worker = database.with(client -> name.of(client).resume());
    println("resumed " + name + ", in " + worker.targetInstances() + " processes at once");
  }

  private void println(String line) {
    spec.commandLine().getOut().println(line);
  }
}
