package io.sqlstreams.cli;

import io.sqlstreams.config.ExceptionStatus;
import io.sqlstreams.config.Page;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The messages of a group that weren't done at once. */
@Command(
    name = "exceptions",
    description = "The exception queue of a group: list, redrive, discard.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "VERB",
    footer = {
      "",
      "Examples:",
      "  sqlstreams exceptions list orders billing --status dead --output json",
      "  sqlstreams exceptions redrive orders billing --error timeout --limit 100",
      "  sqlstreams exceptions discard orders billing --first-id 17 --last-id 17 --yes"
    })
final class ExceptionsCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Command(
      description = "List messages of the queue by their ids.",
      mixinStandardHelpOptions = true)
  void list(
      @Mixin ConnectionOptions database,
      @Mixin Output output,
      @Mixin GroupName group,
      @Mixin FilterOptions filter,
      @Option(
              names = "--status",
              paramLabel = "STATUS",
              split = ",",
              defaultValue = "ready,inflight,deferred,dead,superseded",
              description = "ready, inflight, deferred, dead, superseded. Default: all of them.")
          List<ExceptionStatus> statuses,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "100",
              description = "How many at most, 1 to " + Page.MAX_LIMIT + ". Default: 100.")
          int limit,
      @Option(
              names = "--after",
              paramLabel = "ID",
              defaultValue = "0",
              description = "Begin above this message id: the last one of the page before.")
          long after) {
    output.all(
        database
            .with(
                client ->
                    group
                        .of(client)
                        .exceptions()
                        .list(
                            filter.of(statuses.toArray(ExceptionStatus[]::new)),
                            new Page(limit, after)))
            .stream()
            .map(Fields::ofException)
            .toList(),
        "no such message: the exception queue has none");
  }

  @Command(
      description = {
        "Put dead messages back to be handled again, with fresh retries.",
        "Messages in flight or waiting are never touched."
      },
      mixinStandardHelpOptions = true)
  void redrive(
      @Mixin ConnectionOptions database,
      @Mixin GroupName group,
      @Mixin FilterOptions filter,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "" + Integer.MAX_VALUE,
              hideParamSyntax = true,
              description = "How many at most. Default: all.")
          int limit) {
    long redriven =
        database.with(
            client ->
                group.of(client).exceptions().redrive(filter.of(ExceptionStatus.DEAD), limit));
    println("redrove " + redriven + " messages of " + group);
  }

  @Command(
      description = {
        "Give messages up for good: no handler sees them again, unless the group is rewound.",
        "Messages in flight are never touched."
      },
      mixinStandardHelpOptions = true)
  void discard(
      @Mixin ConnectionOptions database,
      @Mixin Consent consent,
      @Mixin GroupName group,
      @Mixin FilterOptions filter,
      @Option(
              names = "--status",
              paramLabel = "STATUS",
              split = ",",
              defaultValue = "dead",
              description = "ready, deferred, dead. Default: dead.")
          List<ExceptionStatus> statuses,
      @Option(
              names = "--limit",
              paramLabel = "N",
              defaultValue = "" + Integer.MAX_VALUE,
              hideParamSyntax = true,
              description = "How many at most. Default: all.")
          int limit) {
    database.with(group::require);
    consent.requireToDelete("messages from the exception queue of " + group);
    long discarded =
        database.with(
            client ->
                group
                    .of(client)
                    .exceptions()
                    .discard(filter.of(statuses.toArray(ExceptionStatus[]::new)), limit));
    println("discarded " + discarded + " messages of " + group);
  }

  private void println(String line) {
    spec.commandLine().getOut().println(line);
  }
}
