package io.sqlstreams.cli;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ProduceOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Writes messages to a stream, all or none. */
@Command(
    name = "produce",
    description = {
      "Produce one message from the argument, or one from each line of stdin.",
      "Stdin is read to its end first; then all of its lines are produced in one transaction, or none. Empty lines are left out."
    },
    mixinStandardHelpOptions = true,
    footer = {
      "",
      "Examples:",
      "  sqlstreams produce orders '{\"id\": 1}' --key customer-7 --routing-key orders.eu",
      "  sqlstreams produce orders '{\"id\": 2}' --header source=shop --header trace=4711",
      "  sqlstreams produce orders < orders.ndjson"
    })
final class ProduceCommand implements Callable<Integer> {
  /** Beyond this the list of messages isn't something to hold in memory. */
  private static final long MAX_INPUT_CHARS = 256L << 20;

  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Mixin private final ConnectionOptions database = new ConnectionOptions();

  @Parameters(index = "0", paramLabel = "STREAM", description = "The stream's name.")
  private String stream = "";

  @Parameters(
      index = "1",
      arity = "0..1",
      paramLabel = "PAYLOAD",
      description = "The payload; without it, stdin.")
  private @Nullable String payload;

  @Option(names = "--key", paramLabel = "TEXT", description = "The message key.")
  private @Nullable String key;

  @Option(names = "--routing-key", paramLabel = "TEXT", description = "The routing key.")
  private @Nullable String routingKey;

  @Option(
      names = "--header",
      paramLabel = "NAME=VALUE",
      description = "A header; may be given more than once.")
  private Map<String, String> headers = new LinkedHashMap<>();

  @Override
  public Integer call() throws IOException {
    ProduceOptions options = new ProduceOptions(key, routingKey, headers);
    List<Outgoing<RawPayload>> messages = new ArrayList<>();
    if (payload != null) {
      messages.add(Outgoing.of(RawPayload.of(payload), options));
    } else {
      for (String line : lines(System.in)) {
        messages.add(Outgoing.of(RawPayload.of(line), options));
      }
    }
    List<Produced> produced =
        database.with(client -> client.stream(stream).producer().produceAll(messages));
    spec.commandLine().getOut().println(receipt(produced));
    return 0;
  }

  /**
   * The lines that aren't empty. Bytes that aren't UTF-8 are refused: a replacement character would
   * be stored silently.
   */
  static List<String> lines(InputStream in) throws IOException {
    BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                in,
                StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)));
    List<String> lines = new ArrayList<>();
    long chars = 0;
    try {
      for (String line = reader.readLine(); line != null; line = reader.readLine()) {
        chars += line.length();
        if (chars > MAX_INPUT_CHARS) {
          throw new CliException(
              "nothing was produced: stdin is above "
                  + MAX_INPUT_CHARS
                  + " characters, too much for one transaction: split it");
        }
        if (!line.isBlank()) {
          lines.add(line);
        }
      }
    } catch (MalformedInputException e) {
      throw new CliException(
          "nothing was produced: stdin isn't UTF-8 after line "
              + lines.size()
              + ": convert it first",
          e);
    }
    return lines;
  }

  private static String receipt(List<Produced> produced) {
    return switch (produced.size()) {
      case 0 -> "nothing to produce: stdin was empty";
      case 1 -> "produced message " + produced.get(0).id();
      default ->
          "produced "
              + produced.size()
              + " messages, ids "
              + produced.get(0).id()
              + " to "
              + produced.get(produced.size() - 1).id();
    };
  }
}
