package io.sqlstreams.cli;

import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.error.InvalidInputException;
import java.io.IOException;
import java.time.Duration;
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
      "  sqlstreams produce orders '{\"id\": 3}' --idempotency-key order-3 --timeout 2m --max-retries 8",
      "  sqlstreams produce orders < orders.ndjson"
    })
final class ProduceCommand implements Callable<Integer> {
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

  @Option(
      names = "--idempotency-key",
      paramLabel = "TEXT",
      description = {
        "Produce the message only if none with this key was produced within the stream's time to live for such keys.",
        "For one message; without effect it is said so, and an error if the other one has another payload."
      })
  private @Nullable String idempotencyKey;

  @Option(
      names = "--timeout",
      paramLabel = "TIME",
      description =
          "How long a handler may take for each message. Default: what the group says; its limits hold.")
  private @Nullable Duration timeout;

  @Option(
      names = "--max-retries",
      paramLabel = "N",
      description =
          "Retries after the first failure, with the default waits. Default: what the group says; its limits hold.")
  private @Nullable Integer maxRetries;

  @Override
  public Integer call() throws IOException {
    List<InputLine> lines =
        payload == null ? InputLine.readAll(System.in) : List.of(new InputLine(1, payload));
    if (idempotencyKey != null && lines.size() > 1) {
      throw new CliException(
          "nothing was produced: --idempotency-key is for one message, and stdin has "
              + lines.size()
              + ": produce them one by one, each with its key");
    }
    ProduceOptions options = options();
    List<Outgoing<RawPayload>> messages =
        lines.stream().map(line -> Outgoing.of(RawPayload.of(line.text()), options)).toList();
    try {
      List<Produced> produced =
          database.with(client -> client.stream(stream).producer().produceAll(messages));
      spec.commandLine().getOut().println(receipt(produced));
      return 0;
    } catch (InvalidInputException e) {
      throw lines.size() == 1 ? e : new CliException(whichLine(lines) + e.getMessage(), e);
    }
  }

  private ProduceOptions options() {
    return ProduceOptions.defaults()
        .withKey(key)
        .withRoutingKey(routingKey)
        .withHeaders(headers)
        .withIdempotencyKey(idempotencyKey)
        .withTimeout(timeout)
        .withRetry(maxRetries == null ? null : RetryPolicy.defaults().withMaxRetries(maxRetries));
  }

  /**
   * The library names the field, not the message of the list; if it is about JSON, this finds it.
   */
  private static String whichLine(List<InputLine> lines) {
    return "nothing was produced: "
        + lines.stream()
            .filter(line -> !line.isJson())
            .findFirst()
            .map(line -> "line " + line.number() + " isn't JSON: ")
            .orElse("");
  }

  private static String receipt(List<Produced> produced) {
    return switch (produced.size()) {
      case 0 -> "nothing to produce: stdin was empty";
      case 1 -> receipt(produced.get(0));
      default ->
          "produced "
              + produced.size()
              + " messages, ids "
              + produced.get(0).id()
              + " to "
              + produced.get(produced.size() - 1).id();
    };
  }

  private static String receipt(Produced produced) {
    if (!produced.samePayload()) {
      throw new CliException(
          "nothing was produced: message "
              + produced.id()
              + " has this idempotency key and another payload");
    }
    return (produced.duplicate() ? "was produced already: message " : "produced message ")
        + produced.id();
  }
}
