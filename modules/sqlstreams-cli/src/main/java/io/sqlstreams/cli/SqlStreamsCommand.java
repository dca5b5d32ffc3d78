package io.sqlstreams.cli;

import io.sqlstreams.cli.demo.DemoCommand;
import io.sqlstreams.cli.demo.DemoWorkerCommand;
import picocli.AutoComplete;
import picocli.CommandLine.Command;

/** The root: it only holds the others. */
@Command(
    name = "sqlstreams",
    description = "Durable streams on PostgreSQL.",
    mixinStandardHelpOptions = true,
    version = "sqlstreams 0.1.0",
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {
      DemoCommand.class,
      SystemCommand.class,
      MigrateCommand.class,
      StreamCommand.class,
      GroupCommand.class,
      ExceptionsCommand.class,
      ProduceCommand.class,
      ConsumeCommand.class,
      ScheduleCommand.class,
      WorkerCommand.class,
      ManagerCommand.class,
      DemoWorkerCommand.class,
      AutoComplete.GenerateCompletion.class
    },
    footer = {
      "",
      "Examples:",
      "  sqlstreams demo",
      "  export SQLSTREAMS_URL=jdbc:postgresql://localhost/shop",
      "  sqlstreams stream register orders",
      "  sqlstreams group register orders billing",
      "  sqlstreams produce orders '{\"id\": 1}' --key customer-7 --routing-key orders.eu",
      "  sqlstreams consume orders billing --count 1",
      "  source <(sqlstreams generate-completion)",
      "",
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C."
    })
final class SqlStreamsCommand {}
