package io.sqlstreams.cli;

import io.sqlstreams.MessageInfo;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.StreamUpkeep;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.StreamNotFoundException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Streams. */
@Command(
    name = "stream",
    description = "Streams: register, get, list, versions, message, upkeep, rename, destroy.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "VERB",
    footer = {
      "",
      "Examples:",
      "  sqlstreams stream register orders --payload-type jsonb",
      "  sqlstreams stream register orders --retention 30d",
      "  sqlstreams stream list --output json",
      "  sqlstreams stream message orders 17 --output json",
      "  sqlstreams stream upkeep orders",
      "  sqlstreams stream rename orders orders.placed",
      "  sqlstreams stream destroy orders.placed --yes"
    })
final class StreamCommand {
  @Spec
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Command(
      description = {
        "Declare a stream.",
        "It is created when it isn't there; else the newest declaration wins, and what isn't given goes back to its default."
      },
      mixinStandardHelpOptions = true)
  void register(
      @Mixin ConnectionOptions database,
      @Parameters(paramLabel = "STREAM", description = "The stream's name.") String name,
      @Option(
              names = "--payload-type",
              paramLabel = "TYPE",
              defaultValue = "json",
              description = "json (the default), jsonb or bytea; fixed at creation.")
          PayloadType payloadType,
      @Option(
              names = "--partition-size",
              paramLabel = "IDS",
              defaultValue = "" + StreamConfig.DEFAULT_PARTITION_SIZE,
              description =
                  "How many ids one partition spans; fixed at creation. Default: ${DEFAULT-VALUE}.")
          long partitionSize,
      @Option(
              names = "--max-payload-bytes",
              paramLabel = "BYTES",
              defaultValue = "" + StreamConfig.DEFAULT_MAX_PAYLOAD_BYTES,
              description = "The largest payload that is accepted. Default: ${DEFAULT-VALUE}.")
          int maxPayloadBytes,
      @Option(
              names = "--idempotency-key-ttl",
              paramLabel = "DURATION",
              defaultValue = "1d",
              description = "How long an idempotency key lives. Default: ${DEFAULT-VALUE}.")
          Duration idempotencyKeyTtl,
      @Option(
              names = "--tombstone-ttl",
              paramLabel = "DURATION",
              defaultValue = "1d",
              description = "How long a deleted key has its tombstone. Default: ${DEFAULT-VALUE}.")
          Duration tombstoneTtl,
      @Option(
              names = "--empty-head-ttl",
              paramLabel = "DURATION",
              defaultValue = "1h",
              description =
                  "How long the lock of a key without a head is kept. Default: ${DEFAULT-VALUE}.")
          Duration emptyHeadTtl,
      @Option(
              names = "--retention",
              paramLabel = "DURATION",
              description = {
                "How long a message is kept at least; it then goes with its partition, once every group has committed past it.",
                "Default: for ever."
              })
          @Nullable Duration retention,
      @Option(
              names = "--allow-drop-past-committed",
              description =
                  "Drop what is older than the retention though groups have not read it; each gets it on record.")
          boolean allowDropPastCommitted) {
    StreamConfig config =
        StreamConfig.defaults()
            .withPayloadType(payloadType)
            .withPartitionSize(partitionSize)
            .withMaxPayloadBytes(maxPayloadBytes)
            .withIdempotencyKeyTtl(idempotencyKeyTtl)
            .withTombstoneTtl(tombstoneTtl)
            .withEmptyHeadTtl(emptyHeadTtl)
            .withAllowDropPastCommitted(allowDropPastCommitted);
    if (retention != null) {
      config = config.withRetention(retention);
    }
    StreamConfig declared = config;
    StreamInfo stream = database.with(client -> client.stream(name).register(declared));
    println("registered stream \"" + stream.name() + "\", id " + stream.id());
  }

  @Command(description = "Show one stream.", mixinStandardHelpOptions = true)
  void get(
      @Mixin ConnectionOptions database,
      @Mixin Output output,
      @Parameters(paramLabel = "STREAM", description = "The stream's name.") String name) {
    output.one(Fields.ofStream(database.with(client -> require(client, name))));
  }

  @Command(
      description = {
        "Show how a stream is kept up: its partitions, how far retention has come, what holds it back,",
        "and whether the upkeep goes well."
      },
      mixinStandardHelpOptions = true)
  void upkeep(
      @Mixin ConnectionOptions database,
      @Mixin Output output,
      @Parameters(paramLabel = "STREAM", description = "The stream's name.") String name,
      @Option(
              names = "--run",
              description =
                  "First do what is due: partitions ahead, retention, sweeps. Workers do it by themselves.")
          boolean run) {
    StreamUpkeep upkeep =
        database.with(
            client -> {
              StreamHandle<?> stream = client.stream(name);
              if (run) {
                stream.runUpkeep();
              }
              return stream.upkeep();
            });
    output.one(Fields.ofUpkeep(upkeep));
  }

  @Command(description = "List every stream.", mixinStandardHelpOptions = true)
  void list(@Mixin ConnectionOptions database, @Mixin Output output) {
    output.all(
        database.with(SqlStreams::streams).stream().map(Fields::ofStream).toList(),
        "no stream: 'sqlstreams stream register NAME' makes one");
  }

  @Command(
      description = "Show what each schema version of the payloads is still needed for.",
      mixinStandardHelpOptions = true)
  void versions(
      @Mixin ConnectionOptions database,
      @Mixin Output output,
      @Parameters(paramLabel = "STREAM", description = "The stream's name.") String name) {
    output.all(
        database.with(client -> client.stream(name).versions()).stream()
            .map(Fields::ofVersion)
            .toList(),
        "no version: nothing was produced yet");
  }

  @Command(
      description = "Show one message, and what has become of it in each group.",
      mixinStandardHelpOptions = true)
  void message(
      @Mixin ConnectionOptions database,
      @Mixin Output output,
      @Parameters(index = "0", paramLabel = "STREAM", description = "The stream's name.")
          String name,
      @Parameters(index = "1", paramLabel = "ID", description = "The message's id.") long id) {
    MessageInfo message =
        database
            .with(client -> client.stream(name).message(id))
            .orElseThrow(
                () ->
                    new CliException(
                        "stream \""
                            + name
                            + "\" holds no message "
                            + id
                            + ": it was never committed, or retention has dropped it"));
    output.one(Fields.ofMessage(message));
  }

  @Command(
      description = "Give a stream another name; producers and consumers that run already go on.",
      mixinStandardHelpOptions = true)
  void rename(
      @Mixin ConnectionOptions database,
      @Parameters(index = "0", paramLabel = "STREAM", description = "The stream's name.")
          String name,
      @Parameters(index = "1", paramLabel = "NEW_NAME", description = "The new name.")
          String newName) {
    StreamInfo stream = database.with(client -> client.stream(name).rename(newName));
    println("stream \"" + name + "\" is now named \"" + stream.name() + "\"");
  }

  @Command(
      description = "Drop a stream, its messages and its groups.",
      mixinStandardHelpOptions = true)
  void destroy(
      @Mixin ConnectionOptions database,
      @Mixin Consent consent,
      @Parameters(paramLabel = "STREAM", description = "The stream's name.") String name) {
    database.with(client -> require(client, name));
    consent.requireToDelete("stream \"" + name + "\" with its messages and groups");
    database.withDestroyAllowed(client -> client.stream(name).destroy());
    println("destroyed stream \"" + name + "\"");
  }

  private static StreamInfo require(SqlStreams client, String name) {
    return client.stream(name).get().orElseThrow(() -> new StreamNotFoundException(name));
  }

  private void println(String line) {
    spec.commandLine().getOut().println(line);
  }
}
