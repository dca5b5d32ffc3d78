package io.sqlstreams.cli;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.Rewind;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import java.time.Duration;
import java.util.UUID;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Consumer groups. */
@Command(
    name = "group",
    description =
        "Consumer groups of a stream: register, get, list, status, bindings, rename, rewind, destroy, leases, release.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "VERB",
    footer = {
      "",
      "Examples:",
      "  sqlstreams group register orders billing --start head --max-retries 5",
      "  sqlstreams group list orders --output json",
      "  sqlstreams group status orders billing",
      "  sqlstreams group rewind orders billing --to at:2030-01-31T08:00:00Z --preview",
      "  sqlstreams group leases orders billing",
      "  sqlstreams group destroy orders billing --yes"
    })
final class GroupCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Command(
      description = {
        "Declare a group.",
        "It is created when it isn't there; else the newest declaration wins, and what isn't given goes back to its default."
      },
      mixinStandardHelpOptions = true)
  void register(
      @Mixin ConnectionOptions database,
      @Mixin GroupName name,
      @Option(
              names = "--start",
              paramLabel = "WHERE",
              defaultValue = "beginning",
              description =
                  "beginning (the default), head, after:ID or at:INSTANT (2030-01-31T08:00:00Z); counts once, at creation.")
          Start start,
      @Option(
              names = "--timeout",
              paramLabel = "TIME",
              defaultValue = "30s",
              description =
                  "How long a handler may take for one message. Default: ${DEFAULT-VALUE}.")
          Duration timeout,
      @Option(
              names = "--max-retries",
              paramLabel = "N",
              defaultValue = "" + RetryPolicy.DEFAULT_MAX_RETRIES,
              description = "Retries after the first failure. Default: ${DEFAULT-VALUE}.")
          int maxRetries,
      @Option(
              names = "--initial-backoff",
              paramLabel = "TIME",
              defaultValue = "5s",
              description = "The wait before the first retry. Default: ${DEFAULT-VALUE}.")
          Duration initialBackoff) {
    RetryPolicy retry =
        RetryPolicy.defaults().withMaxRetries(maxRetries).withInitialBackoff(initialBackoff);
    GroupConfig config =
        GroupConfig.defaults().withStart(start).withTimeout(timeout).withRetry(retry);
    GroupInfo group = database.with(client -> name.of(client).register(config));
    println("registered " + name + ", id " + group.id());
  }

  @Command(description = "Show one group.", mixinStandardHelpOptions = true)
  void get(@Mixin ConnectionOptions database, @Mixin Output output, @Mixin GroupName group) {
    output.one(Fields.ofGroup(database.with(group::require)));
  }

  @Command(description = "List every group of a stream.", mixinStandardHelpOptions = true)
  void list(
      @Mixin ConnectionOptions database,
      @Mixin Output output,
      @Parameters(paramLabel = "STREAM", description = "The stream's name.") String stream) {
    output.all(
        database.with(client -> client.stream(stream).groups()).stream()
            .map(Fields::ofGroup)
            .toList(),
        "no group: 'sqlstreams group register STREAM GROUP' makes one");
  }

  @Command(
      description = "Give a group another name; its position stays, and running consumers go on.",
      mixinStandardHelpOptions = true)
  void rename(
      @Mixin ConnectionOptions database,
      @Mixin GroupName name,
      @Parameters(index = "2", paramLabel = "NEW_NAME", description = "The new name.")
          String newName) {
    GroupInfo group = database.with(client -> name.of(client).rename(newName));
    println(name + " is now named \"" + group.name() + "\"");
  }

  @Command(
      description =
          "Drop a group with its position, leases and exception queue; the messages stay.",
      mixinStandardHelpOptions = true)
  void destroy(@Mixin ConnectionOptions database, @Mixin Consent consent, @Mixin GroupName group) {
    database.with(group::require);
    consent.requireToDelete(group + " with its position");
    database.withDestroyAllowed(client -> group.of(client).destroy());
    println("destroyed " + group);
  }

  @Command(
      description = {
        "List the ranges of messages that consuming processes hold at the moment.",
        "The ids above low up to high; a session of - was given back."
      },
      mixinStandardHelpOptions = true)
  void leases(@Mixin ConnectionOptions database, @Mixin Output output, @Mixin GroupName group) {
    output.all(
        database.with(client -> group.of(client).leases()).stream().map(Fields::ofLease).toList(),
        "no lease: nothing is being handled");
  }

  @Command(
      description = {
        "End the leases of a session whose process is dead, so that others go on at once.",
        "If it lives all the same, its results are refused and its messages delivered again."
      },
      mixinStandardHelpOptions = true)
  void release(
      @Mixin ConnectionOptions database,
      @Mixin GroupName name,
      @Parameters(
              index = "2",
              paramLabel = "SESSION",
              description = "The session, as 'group leases' shows it.")
          UUID session) {
    int released = database.with(client -> name.of(client).releaseLeases(session));
    println("released " + released + " leases of session " + session);
  }

  @Command(
      description = {
        "Show where a group stands: its position, what it has still to handle, who holds it up.",
        "Where lagIsExact is false, the lag is an upper bound."
      },
      mixinStandardHelpOptions = true)
  void status(@Mixin ConnectionOptions database, @Mixin Output output, @Mixin GroupName group) {
    output.one(Fields.ofSnapshot(database.with(client -> group.of(client).snapshot())));
  }

  @Command(
      description = "Show what a group reads of its stream, and from where on.",
      mixinStandardHelpOptions = true)
  void bindings(@Mixin ConnectionOptions database, @Mixin Output output, @Mixin GroupName group) {
    output.one(Fields.ofBindings(database.with(client -> group.of(client).bindings())));
  }

  @Command(
      description = {
        "Move a group back: everything above the place is delivered again.",
        "Says first what that is, and asks."
      },
      mixinStandardHelpOptions = true)
  void rewind(
      @Mixin ConnectionOptions database,
      @Mixin Output output,
      @Mixin Consent consent,
      @Mixin GroupName group,
      @Option(
              names = "--to",
              paramLabel = "WHERE",
              required = true,
              description = "beginning, after:ID or at:INSTANT (2030-01-31T08:00:00Z).")
          Start place,
      @Option(names = "--preview", description = "Say what it would do, and change nothing.")
          boolean preview) {
    Rewind expected = database.with(client -> group.of(client).previewRewind(place));
    if (preview) {
      output.one(Fields.ofRewind(expected));
      return;
    }
    consent.require(
        "moves " + group + " back and delivers " + expected.messages() + " messages again");
    output.one(Fields.ofRewind(database.with(client -> group.of(client).rewind(place))));
  }

  private void println(String line) {
    spec.commandLine().getOut().println(line);
  }
}
