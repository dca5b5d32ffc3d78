package io.sqlstreams.cli;

import io.sqlstreams.Consumption;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ConsumeOptions;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * Consumes for a group and prints what comes. One handler, so that the lines are in the order of
 * the ids.
 */
@Command(
    name = "consume",
    description = {
      "Consume messages for a group and print each as a line: id, routing key, message key, payload, with tabs between them.",
      "A printed message is done for the group. What isn't text is printed in Base64; line breaks are printed as spaces.",
      "Ends after --count messages or with Ctrl-C; what wasn't printed goes back.",
      "Output that nobody reads for longer than the group's timeout counts as a failure."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  sqlstreams consume orders billing",
      "  sqlstreams consume orders billing --count 10"
    })
final class ConsumeCommand implements Callable<Integer> {
  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Mixin private final ConnectionOptions database = new ConnectionOptions();

  @Parameters(index = "0", paramLabel = "STREAM", description = "The stream's name.")
  private String stream = "";

  @Parameters(index = "1", paramLabel = "GROUP", description = "The group's name.")
  private String group = "";

  @Option(
      names = {"-n", "--count"},
      paramLabel = "N",
      defaultValue = "" + Long.MAX_VALUE,
      showDefaultValue = picocli.CommandLine.Help.Visibility.NEVER,
      description = "End after this many messages.")
  private long count = Long.MAX_VALUE;

  @Override
  public Integer call() {
    if (count < 1) {
      throw new picocli.CommandLine.ParameterException(
          spec.commandLine(), "--count must be 1 or above, not " + count);
    }
    return database.withPool(this::consume);
  }

  private int consume(SqlStreams client) {
    Printer printer = new Printer(spec.commandLine().getOut(), count);
    Consumption consumption = client.stream(stream).group(group).consume(printer::print, options());
    printer.consumption.complete(consumption);
    int exitCode = UntilStopped.run(consumption::stop, consumption::awaitStopped);
    if (printer.broken) {
      throw new CliException(
          "stdout was closed: the last message was not printed and will be delivered again");
    }
    return exitCode;
  }

  /** No more is claimed than is asked for, so that little has to be given back. */
  private ConsumeOptions options() {
    int most = (int) Math.min(count, ConsumeOptions.DEFAULT_MAX_CLAIM);
    return ConsumeOptions.defaults()
        .withHandlers(1)
        .withMaxClaim(most)
        .withPrefetch(most, ConsumeOptions.DEFAULT_PREFETCH_BYTES);
  }

  /** The handler. One thread at a time calls it, and after a timeout perhaps a second one. */
  private static final class Printer {
    /** Known a moment after the first message may have come. */
    final CompletableFuture<Consumption> consumption = new CompletableFuture<>();

    volatile boolean broken;

    private final PrintWriter out;
    private long left;

    Printer(PrintWriter out, long count) {
      this.out = out;
      this.left = count;
    }

    synchronized Outcome print(Message<RawPayload> message) {
      if (left == 0) {
        // begun before the stop took effect: for whoever comes next
        return Outcome.delay(Duration.ZERO);
      }
      out.println(
          String.join(
              "\t",
              Long.toString(message.id()),
              Text.orNone(message.routingKey()),
              Text.orNone(message.key()),
              message.isTombstone() ? Text.orNone(null) : Text.payload(message.payload().bytes())));
      if (out.checkError()) { // flushes too
        broken = true;
        left = 0;
        consumption.join().stop(); // from a handler this only asks for the stop
        throw new CliException("stdout was closed");
      }
      left--;
      if (left == 0) {
        consumption.join().stop();
      }
      return Outcome.done();
    }
  }
}
