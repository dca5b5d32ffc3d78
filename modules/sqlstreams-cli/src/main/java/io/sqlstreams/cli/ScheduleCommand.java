package io.sqlstreams.cli;

import io.sqlstreams.Produced;
import io.sqlstreams.ScheduleHandle;
import io.sqlstreams.ScheduleInfo;
import io.sqlstreams.ScheduleStatus;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.MissedRuns;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.error.ScheduleNotFoundException;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Messages at planned times. */
@Command(
    name = "schedule",
    description = "Schedules: register, get, list, next, status, run, suspend, resume, destroy.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "VERB",
    footer = {
      "",
      "Examples:",
      "  sqlstreams schedule register nightly invoices '0 2 * * *' '{\"run\": true}' --zone Europe/Oslo",
      "  sqlstreams schedule list --output json",
      "  sqlstreams schedule next nightly --count 5",
      "  sqlstreams schedule run nightly",
      "  sqlstreams schedule destroy nightly --yes"
    })
final class ScheduleCommand {
  private static final int SHOWN_TIMES = 3;

  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  /** Which schedule a verb is about. */
  static final class Name {
    @Parameters(paramLabel = "SCHEDULE", description = "The schedule's name.")
    private String schedule = "";

    ScheduleHandle of(SqlStreams client) {
      return client.schedule(schedule);
    }

    ScheduleInfo require(SqlStreams client) {
      return of(client).get().orElseThrow(() -> new ScheduleNotFoundException(schedule));
    }

    @Override
    public String toString() {
      return "schedule \"" + schedule + "\"";
    }
  }

  @Command(
      description = {
        "Declare a schedule.",
        "It is created when it isn't there; else the newest declaration wins, and what isn't given goes back to its default."
      },
      mixinStandardHelpOptions = true)
  void register(
      @Mixin ConnectionOptions database,
      @Parameters(index = "0", paramLabel = "SCHEDULE", description = "The schedule's name.")
          String name,
      @Parameters(index = "1", paramLabel = "STREAM", description = "The stream's name.")
          String stream,
      @Parameters(
              index = "2",
              paramLabel = "CRON",
              description =
                  "Minute, hour, day of month, month, day of week; with a sixth field in front: seconds.")
          String expression,
      @Parameters(index = "3", paramLabel = "PAYLOAD", description = "Each message's payload.")
          String payload,
      @Option(
              names = "--zone",
              paramLabel = "ZONE",
              defaultValue = "UTC",
              description = "The time zone, such as Europe/Oslo. Default: ${DEFAULT-VALUE}.")
          String zone,
      @Option(
              names = "--missed",
              paramLabel = "POLICY",
              defaultValue = "latest",
              description =
                  "What becomes of planned times that nobody could keep: skip, latest or all. Default: ${DEFAULT-VALUE}.")
          MissedRuns missed,
      @Option(
              names = "--missed-after",
              paramLabel = "TIME",
              defaultValue = "5s",
              description = "How late a run may be before it is missed. Default: ${DEFAULT-VALUE}.")
          Duration missedAfter,
      @Option(names = "--key", paramLabel = "KEY", description = "The messages' key.")
          @Nullable String key,
      @Option(
              names = "--routing-key",
              paramLabel = "KEY",
              description = "The messages' routing key.")
          @Nullable String routingKey) {
    ProduceOptions options = key == null ? ProduceOptions.defaults() : ProduceOptions.key(key);
    if (routingKey != null) {
      options = options.withRoutingKey(routingKey);
    }
    ScheduleConfig config =
        ScheduleConfig.defaults()
            .withMissedRuns(missed)
            .withMissedAfter(missedAfter)
            .withOptions(options);
    Cron cron = Cron.of(expression, zone);
    ScheduleInfo schedule =
        database.with(
            client -> client.schedule(name).register(stream, cron, RawPayload.of(payload), config));
    println(
        "registered schedule \"" + schedule.name() + "\", next at " + schedule.nextScheduledAt());
  }

  @Command(description = "Show one schedule.", mixinStandardHelpOptions = true)
  void get(@Mixin ConnectionOptions database, @Mixin Output output, @Mixin Name name) {
    output.one(Fields.ofSchedule(database.with(name::require), SHOWN_TIMES));
  }

  @Command(
      description = "List every schedule with its next times.",
      mixinStandardHelpOptions = true)
  void list(@Mixin ConnectionOptions database, @Mixin Output output) {
    output.all(
        database.with(SqlStreams::schedules).stream()
            .map(schedule -> Fields.ofSchedule(schedule, SHOWN_TIMES))
            .toList(),
        "no schedule: 'sqlstreams schedule register' makes one");
  }

  @Command(description = "Print the next planned times.", mixinStandardHelpOptions = true)
  void next(
      @Mixin ConnectionOptions database,
      @Mixin Name name,
      @Option(
              names = {"-n", "--count"},
              paramLabel = "N",
              defaultValue = "5",
              description = "How many. Default: ${DEFAULT-VALUE}.")
          int count) {
    database.with(client -> name.of(client).nextTimes(count)).stream()
        .map(Instant::toString)
        .forEach(this::println);
  }

  @Command(
      description = "Show what became of the last message in each group of the stream.",
      mixinStandardHelpOptions = true)
  void status(@Mixin ConnectionOptions database, @Mixin Output output, @Mixin Name name) {
    ScheduleStatus status = database.with(client -> name.of(client).status());
    Map<String, Object> fields = Fields.ofSchedule(status.schedule(), SHOWN_TIMES);
    status
        .groups()
        .forEach(
            group -> fields.put("group " + Text.oneLine(group.group()), Fields.delivery(group)));
    output.one(fields);
  }

  @Command(
      description = "Produce one message more, now; the planned times stay as they are.",
      mixinStandardHelpOptions = true)
  void run(@Mixin ConnectionOptions database, @Mixin Name name) {
    Produced produced = database.with(client -> name.of(client).runNow());
    println("produced message " + produced.id() + " of " + name);
  }

  @Command(
      description = "Stop a schedule from producing until it is resumed.",
      mixinStandardHelpOptions = true)
  void suspend(@Mixin ConnectionOptions database, @Mixin Name name) {
    if (!database.with(client -> name.of(client).suspend())) {
      throw new CliException(name + " is suspended already: nothing was changed");
    }
    println("suspended " + name);
  }

  @Command(
      description = "Have a suspended schedule go on; what it has missed isn't made up for.",
      mixinStandardHelpOptions = true)
  void resume(@Mixin ConnectionOptions database, @Mixin Name name) {
    if (!database.with(client -> name.of(client).resume())) {
      throw new CliException(name + " isn't suspended: nothing was changed");
    }
    println("resumed " + name);
  }

  @Command(description = "Remove a schedule; its messages stay.", mixinStandardHelpOptions = true)
  void destroy(@Mixin ConnectionOptions database, @Mixin Consent consent, @Mixin Name name) {
    database.with(name::require);
    consent.requireToDelete(name.toString());
    database.withDestroyAllowed(client -> name.of(client).destroy());
    println("destroyed " + name);
  }

  private void println(String line) {
    spec.commandLine().getOut().println(line);
  }
}
