package io.sqlstreams.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** What needs no database: help, wrong usage, and what is refused before a connection is made. */
class UsageTest {
  /** Nobody listens there, and nobody is asked. */
  private static final String URL = "--url=jdbc:postgresql://localhost:1/none";

  @ParameterizedTest
  @MethodSource("everyCommand")
  void everyCommandHasHelp(List<String> command) {
    List<String> args = new ArrayList<>(command);
    args.add("--help");
    Cli.Result result = Cli.run(args.toArray(String[]::new));
    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).startsWith("Usage: sqlstreams");
    assertThat(result.err()).isEmpty();
  }

  static Stream<List<String>> everyCommand() {
    return commands(List.of(), Main.commandLine());
  }

  private static Stream<List<String>> commands(List<String> path, CommandLine command) {
    Stream<List<String>> below =
        command.getSubcommands().entrySet().stream()
            .flatMap(
                sub -> {
                  List<String> longer = new ArrayList<>(path);
                  longer.add(sub.getKey());
                  return commands(longer, sub.getValue());
                });
    return Stream.concat(Stream.of(path), below);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "demo", "system", "stream", "group", "migrate", "produce", "consume"})
  void helpShowsExamples(String command) {
    String[] args = command.isEmpty() ? new String[] {"--help"} : new String[] {command, "--help"};
    assertThat(Cli.run(args).out()).contains("Examples:");
  }

  @Test
  void theWorkerOfTheDemoIsHidden() {
    assertThat(Cli.run("--help").out()).doesNotContain("demo-worker");
  }

  @Test
  void anUnknownCommandIsWrongUsage() {
    assertWrongUsage(Cli.run("strem", "list"), "strem", "did you mean stream");
  }

  @Test
  void theShellCompletionKnowsEveryNoun() {
    Cli.Result result = Cli.run("generate-completion");
    assertThat(result.exitCode()).isZero();
    assertThat(result.out()).contains("complete -F", "exceptions", "generate-completion");
  }

  @Test
  void aNounWithoutVerbIsWrongUsage() {
    assertWrongUsage(Cli.run("stream"), "subcommand", "sqlstreams stream --help");
  }

  @Test
  void aMissingArgumentIsWrongUsage() {
    assertWrongUsage(
        Cli.run("stream", "rename", "orders", URL), "NEW_NAME", "stream rename --help");
  }

  @Test
  void aValueOfTheWrongTypeIsWrongUsage() {
    assertWrongUsage(
        Cli.run("stream", "register", "orders", URL, "--partition-size", "many"),
        "--partition-size",
        "many");
    assertWrongUsage(
        Cli.run("stream", "register", "orders", URL, "--payload-type", "xml"),
        "--payload-type",
        "BYTEA");
    assertWrongUsage(
        Cli.run("group", "register", "orders", "billing", URL, "--timeout", "soon"),
        "--timeout",
        "30s");
    assertWrongUsage(
        Cli.run("produce", "orders", "{}", URL, "--header", "novalue"), "--header", "novalue");
    assertWrongUsage(
        Cli.run("consume", "orders", "billing", URL, "--count", "0"), "--count", "1 or above");
    assertWrongUsage(Cli.run("demo", "--messages", "1"), "--messages", "1000");
  }

  @Test
  void noDatabaseIsWrongUsage() {
    assertWrongUsage(Cli.run("stream", "list", "--url="), "--url", "SQLSTREAMS_URL");
  }

  @Test
  void aUrlOfAnotherKindIsWrongUsageAndIsNotRepeated() {
    Cli.Result result = Cli.run("stream", "list", "--url=postgres://joe:secret@localhost/shop");
    assertWrongUsage(result, "--url", "jdbc:postgresql://");
    assertThat(result.err()).doesNotContain("secret");
  }

  @Test
  void aValueOutsideItsRangeFailsBeforeAnyConnection() {
    assertFails(
        Cli.run("stream", "register", "orders", URL, "--partition-size", "7"),
        "partitionSize",
        "100");
    assertFails(
        Cli.run("stream", "register", "orders", URL, "--max-payload-bytes", "0"),
        "maxPayloadBytes");
    assertFails(
        Cli.run("stream", "register", "orders", URL, "--idempotency-key-ttl", "0s"),
        "idempotencyKeyTtl");
    assertFails(
        Cli.run("stream", "register", "orders", URL, "--tombstone-ttl", "0s"), "tombstoneTtl");
    assertFails(
        Cli.run("stream", "register", "orders", URL, "--empty-head-ttl", "0s"), "emptyHeadTtl");
    assertFails(
        Cli.run("stream", "register", "orders", URL, "--retention", "5s"),
        "retention",
        "sweepInterval");
    assertFails(
        Cli.run("group", "register", "orders", "billing", URL, "--max-retries", "-1"),
        "maxRetries");
    assertFails(
        Cli.run("group", "register", "orders", "billing", URL, "--initial-backoff", "10m"),
        "initialBackoff",
        "cap");
  }

  @Test
  void aWrongSchemaNameFailsBeforeAnyConnection() {
    assertFails(Cli.run("stream", "list", URL, "--schema", "My-Schema"), "schema", "My-Schema");
  }

  @Test
  void aMigrationThatCannotBeFailsBeforeAnyConnection() {
    assertWrongUsage(Cli.run("migrate", "up", URL, "--to", "2"), "--scope and --to");
    assertWrongUsage(Cli.run("migrate", "down", URL), "--scope and --to");
    assertWrongUsage(Cli.run("migrate", "up", URL, "--scope", "group", "--to", "2"), "--scope");
    assertFails(Cli.run("migrate", "down", URL, "--scope", "stream", "--to", "0"), "version");
    assertFails(Cli.run("migrate", "up", URL, "--scope", "stream", "--to", "99"), "99", "1 to 1");
  }

  @Test
  void aRoleThatCannotBeFailsBeforeAnyConnection() {
    assertFails(Cli.run("system", "grants", URL, "--role", "monitor", ""), "role");
    assertFails(Cli.run("system", "grants", URL, "--role", "monitor", "a\"b"), "role");
    assertWrongUsage(Cli.run("system", "grants", URL, "--role", "king", "a"), "--role", "MONITOR");
    assertWrongUsage(Cli.run("system", "grants", URL, "a"), "--role");
  }

  private static void assertWrongUsage(Cli.Result result, String... inMessage) {
    assertThat(result.err()).startsWith("sqlstreams: ").hasLineCount(1).contains(inMessage);
    assertThat(result.out()).isEmpty();
    assertThat(result.exitCode()).isEqualTo(2);
  }

  private static void assertFails(Cli.Result result, String... inMessage) {
    assertThat(result.err()).startsWith("sqlstreams: ").hasLineCount(1).contains(inMessage);
    assertThat(result.out()).isEmpty();
    assertThat(result.exitCode()).isEqualTo(1);
  }
}
