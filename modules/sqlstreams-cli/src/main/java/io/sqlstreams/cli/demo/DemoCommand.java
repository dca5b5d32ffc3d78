package io.sqlstreams.cli.demo;

import io.sqlstreams.cli.Terminal;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The demo. */
@Command(
    name = "demo",
    description = {
      "Produce real messages, kill a worker in mid-work, and count what was lost.",
      "Needs nothing else: it brings its own PostgreSQL and removes it at the end. Exit code 0 only if nothing was lost."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Examples:", "  sqlstreams demo", "  sqlstreams demo --messages 100000 --keep"})
public final class DemoCommand implements Callable<Integer> {
  private static final int INTERRUPTED = 130;

  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Option(
      names = "--messages",
      paramLabel = "N",
      defaultValue = "20000",
      description = "How many messages, from 1,000 to 10,000,000. Default: ${DEFAULT-VALUE}.")
  private int messages;

  @Option(
      names = "--producers",
      paramLabel = "N",
      defaultValue = "3",
      description = "How many threads produce, from 1 to 64. Default: ${DEFAULT-VALUE}.")
  private int producers;

  @Option(
      names = "--lease",
      paramLabel = "TIME",
      defaultValue = "3s",
      description =
          "How long a killed worker's messages stay reserved for it, from 1s. Default: ${DEFAULT-VALUE}; the library's own is 15s.")
  private Duration lease = Duration.ofSeconds(3);

  @Option(
      names = "--keep",
      description = "Leave the database up at the end, until Ctrl-C, and print how to get into it.")
  private boolean keep;

  @Option(
      names = "--plain",
      description =
          "Add lines instead of redrawing a table. So it is anyway where output isn't a terminal.")
  private boolean plain;

  @Override
  public Integer call() throws Exception {
    requireBetween("--messages", messages, 1_000, 10_000_000);
    requireBetween("--producers", producers, 1, 64);
    requireBetween("--lease in ms", lease.toMillis(), 1_000, 600_000);
    PrintWriter out = spec.commandLine().getOut();
    Cleanup cleanup = Cleanup.onExit();
    try (cleanup) {
      Screen screen = Screen.of(out, !plain && Terminal.canRedraw());
      Demo demo = new Demo(new Demo.Settings(messages, producers, lease, keep), screen, out);
      return demo.run(cleanup);
    } catch (Exception e) {
      if (cleanup.interrupted()) {
        return INTERRUPTED; // it failed because everything is being stopped
      }
      throw e;
    }
  }

  private void requireBetween(String option, long value, long least, long most) {
    if (value < least || value > most) {
      throw new ParameterException(
          spec.commandLine(), option + " must be from " + least + " to " + most + ", not " + value);
    }
  }
}
