package io.sqlstreams.cli;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Consumption;
import io.sqlstreams.MessageInfo;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@SqlStreamsTest
class CommandsIT {
  TestDatabase database;
  private Cli cli;

  @BeforeEach
  void connect() {
    cli = new Cli(List.of("--url", database.jdbcUrl(), "--schema", database.schema()));
  }

  @Test
  void aSystemFromRegistrationToTheEnd() {
    Cli own = new Cli(List.of("--url", database.jdbcUrl(), "--schema", database.schema() + "_own"));
    assertThat(own.on("system", "get").exitCode()).isEqualTo(1);
    assertThat(ok(own.on("system", "register"))).contains(database.schema() + "_own");
    ok(own.on("system", "register"));
    assertThat(ok(own.on("system", "rename", "shop"))).contains("shop");
    assertThat(ok(own.on("system", "get"))).containsPattern("name +shop\n");
    JsonNode list = json(own.on("system", "list", "--output", "json"));
    assertThat(list.findValuesAsString("schema")).contains(database.schema() + "_own");
    assertThat(ok(own.on("system", "destroy", "--yes"))).contains("destroyed");
    assertThat(own.on("system", "get").exitCode()).isEqualTo(1);
  }

  @Test
  void theVersionsOfTheTables() {
    ok(cli.on("stream", "register", "mi"));
    JsonNode status = json(cli.on("migrate", "status", "-o", "json"));
    assertThat(status.get(0).get("scope").stringValue()).isEqualTo("system");
    assertThat(status.findValuesAsString("stream")).contains("mi");
    assertThat(status.findValuesAsString("state")).containsOnly("current");
    assertThat(ok(cli.on("migrate", "up"))).isEqualTo("nothing to do\n");
    assertThat(ok(cli.on("migrate", "up", "--scope", "stream", "--to", "1")))
        .isEqualTo("nothing to do\n");
    assertThat(ok(cli.on("migrate", "down", "--scope", "stream", "--to", "1", "--yes")))
        .isEqualTo("nothing to do\n");
    assertThat(ok(cli.on("migrate", "sql"))).isEqualTo("-- nothing to do\n");
    Cli none = new Cli(List.of("--url", database.jdbcUrl(), "--schema", "nothing_here"));
    assertThat(ok(none.on("migrate", "sql")))
        .startsWith("-- an installation")
        .endsWith("COMMIT;\n\n");
  }

  @Test
  void theGrantsOfARole() {
    ok(cli.on("stream", "register", "gra"));
    assertThat(ok(cli.on("system", "grants", "--role", "application", "App")))
        .contains("GRANT USAGE ON SCHEMA \"" + database.schema() + "\" TO \"App\";\n");
    assertThat(ok(cli.on("system", "grants", "--role", "producer", "p", "--stream", "gra")))
        .contains("GRANT SELECT, INSERT ON TABLE");
  }

  @Test
  void aStreamFromRegistrationToTheEnd() {
    ok(cli.on("stream", "register", "st.a", "--payload-type", "jsonb", "--partition-size", "500"));
    JsonNode shown = json(cli.on("stream", "get", "st.a", "-o", "json"));
    assertThat(shown.get("payloadType").stringValue()).isEqualTo("jsonb");
    assertThat(shown.get("partitionSize").longValue()).isEqualTo(500);
    ok(cli.on("stream", "rename", "st.a", "st.b"));
    assertThat(ok(cli.on("stream", "list")))
        .containsPattern("id +name +payloadType")
        .contains("st.b")
        .doesNotContain("st.a");
    ok(cli.on("stream", "destroy", "st.b", "--yes"));
    assertThat(ok(cli.on("stream", "list"))).doesNotContain("st.b");
  }

  @Test
  void aGroupFromRegistrationToTheEnd() {
    ok(cli.on("stream", "register", "gr"));
    assertThat(ok(cli.on("group", "list", "gr"))).contains("no group");
    ok(
        cli.on(
            "group",
            "register",
            "gr",
            "a",
            "--start",
            "head",
            "--timeout",
            "2m",
            "--max-retries",
            "9",
            "--initial-backoff",
            "500ms"));
    JsonNode shown = json(cli.on("group", "get", "gr", "a", "-o", "json"));
    assertThat(shown.get("start").stringValue()).isEqualTo("head");
    assertThat(shown.get("timeout").stringValue()).isEqualTo("PT2M");
    assertThat(shown.get("maxRetries").intValue()).isEqualTo(9);
    assertThat(shown.get("initialBackoff").stringValue()).isEqualTo("PT0.5S");
    ok(cli.on("group", "rename", "gr", "a", "b"));
    assertThat(ok(cli.on("group", "list", "gr"))).containsPattern("(?m)^ *\\d+ +b ");
    ok(cli.on("group", "destroy", "gr", "b", "--yes"));
    assertThat(json(cli.on("group", "list", "gr", "-o", "json")).isEmpty()).isTrue();
  }

  @Test
  void leasesAreListedAndReleased() throws InterruptedException {
    ok(cli.on("stream", "register", "le"));
    ok(cli.on("group", "register", "le", "g"));
    assertThat(ok(cli.on("group", "leases", "le", "g"))).startsWith("no lease");
    ok(cli.on("produce", "le", "{}"));
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch end = new CountDownLatch(1);
    try (SqlStreams client =
            SqlStreams.builder(database.dataSource()).schema(database.schema()).build();
        Consumption consumption =
            client.stream("le").group("g").consume(message -> holdUntil(begun, end))) {
      begun.await();
      String session =
          json(cli.on("group", "leases", "le", "g", "-o", "json"))
              .get(0)
              .get("session")
              .stringValue();
      assertThat(ok(cli.on("group", "release", "le", "g", session)))
          .startsWith("released 1 leases");
      assertThat(ok(cli.on("group", "release", "le", "g", new UUID(1, 2).toString())))
          .startsWith("released 0 leases");
      end.countDown();
      consumption.stop();
      assertThat(consumption.counters().leaseLost()).isEqualTo(1);
    } finally {
      end.countDown();
    }
  }

  private static Outcome holdUntil(CountDownLatch begun, CountDownLatch end)
      throws InterruptedException {
    begun.countDown();
    end.await();
    return Outcome.done();
  }

  @Test
  void aProducedMessageIsConsumedWithAllThatGoesWithIt() {
    String payload = // case B45: nothing of it survives a parser that reads numbers as doubles
        "{\"id\":9007199254740993,\"x\":1.10,\"y\":1e400,\"z\":-0.0,\"a\":\"\u00e6\",\"a\":2}";
    ok(cli.on("stream", "register", "pc"));
    ok(cli.on("group", "register", "pc", "g"));
    assertThat(
            ok(
                cli.on(
                    "produce",
                    "pc",
                    payload,
                    "--key",
                    "k\u00e6y",
                    "--routing-key",
                    "eu.placed",
                    "--header",
                    "a=1",
                    "--header",
                    "b=")))
        .isEqualTo("produced message 1\n");
    assertThat(ok(cli.on("consume", "pc", "g", "--count", "1")))
        .isEqualTo("1\teu.placed\tk\u00e6y\t" + payload + "\n");
  }

  @Test
  void aMessageWithAnIdempotencyKeyIsProducedOnce() {
    ok(cli.on("stream", "register", "once"));
    assertThat(ok(cli.on("produce", "once", "1", "--idempotency-key", "k")))
        .isEqualTo("produced message 1\n");
    assertThat(ok(cli.on("produce", "once", "1", "--idempotency-key", "k")))
        .isEqualTo("was produced already: message 1\n");
    Cli.Result other = cli.on("produce", "once", "2", "--idempotency-key", "k");
    assertThat(other.exitCode()).isEqualTo(1);
    assertThat(other.err())
        .isEqualTo(
            "sqlstreams: nothing was produced: message 1 has this idempotency key and another payload\n");
    assertThat(ok(produceLines("once", "3\n", "--idempotency-key", "l")))
        .isEqualTo("produced message 2\n");
    Cli.Result lines = produceLines("once", "4\n5\n", "--idempotency-key", "m");
    assertThat(lines.exitCode()).isEqualTo(1);
    assertThat(lines.err()).contains("is for one message, and stdin has 2").hasLineCount(1);
  }

  @Test
  void aMessageSaysWhatItAsksOfTheGroups() {
    ok(cli.on("stream", "register", "wishes"));
    ok(cli.on("produce", "wishes", "1", "--timeout", "2m", "--max-retries", "8"));
    ok(cli.on("produce", "wishes", "2"));
    Cli.Result tooShort = cli.on("produce", "wishes", "3", "--timeout", "0s");
    assertThat(tooShort.exitCode()).isEqualTo(1);
    assertThat(tooShort.err()).contains("timeout").hasLineCount(1);
    try (SqlStreams client =
        SqlStreams.builder(database.dataSource()).schema(database.schema()).build()) {
      MessageInfo asking = client.stream("wishes").message(1).orElseThrow();
      assertThat(asking.timeout()).isEqualTo(Duration.ofMinutes(2));
      assertThat(asking.retry()).isEqualTo(RetryPolicy.defaults().withMaxRetries(8));
      MessageInfo other = client.stream("wishes").message(2).orElseThrow();
      assertThat(other.timeout()).isNull();
      assertThat(other.retry()).isNull();
    }
  }

  @Test
  void aTombstoneIsPrintedWithoutAPayload() {
    ok(cli.on("stream", "register", "tombstones", "--tombstone-ttl", "2d"));
    ok(cli.on("group", "register", "tombstones", "g"));
    try (SqlStreams client =
        SqlStreams.builder(database.dataSource()).schema(database.schema()).build()) {
      client.stream("tombstones").producer().produceTombstone("k");
      assertThat(client.stream("tombstones").get().orElseThrow().config().tombstoneTtl())
          .isEqualTo(Duration.ofDays(2));
    }
    assertThat(ok(cli.on("consume", "tombstones", "g", "--count", "1"))).isEqualTo("1\t-\tk\t-\n");
  }

  @Test
  void theUpkeepOfAStreamIsShownAndDone() {
    ok(cli.on("stream", "register", "kept", "--partition-size", "100", "--retention", "1h"));
    assertThat(ok(cli.on("stream", "get", "kept"))).contains("PT1H");
    assertThat(ok(cli.on("stream", "upkeep", "kept", "--run", "--output", "json")))
        .contains("1-100, 101-200", "\"floor\"", "\"failures\"");
  }

  @Test
  void linesOfStdinAreProducedTogetherAndConsumedByCount() {
    ok(cli.on("stream", "register", "lines"));
    ok(cli.on("group", "register", "lines", "g"));
    assertThat(ok(produceLines("lines", "{\"n\":1}\n\n{\"n\":2}\n{\"n\":3}\n{\"n\":4}")))
        .isEqualTo("produced 4 messages, ids 1 to 4\n");
    assertThat(ok(cli.on("consume", "lines", "g", "--count", "3")))
        .isEqualTo("1\t-\t-\t{\"n\":1}\n2\t-\t-\t{\"n\":2}\n3\t-\t-\t{\"n\":3}\n");
    assertThat(ok(cli.on("consume", "lines", "g", "--count", "1")))
        .isEqualTo("4\t-\t-\t{\"n\":4}\n");
  }

  @Test
  void oneBadLineAndNothingIsWritten() {
    ok(cli.on("stream", "register", "bad"));
    ok(cli.on("group", "register", "bad", "g"));
    Cli.Result result = produceLines("bad", "{\"n\":1}\n{\"n\":\n{\"n\":3}");
    assertThat(result.exitCode()).isEqualTo(1);
    assertThat(result.err())
        .startsWith("sqlstreams: nothing was produced: line 2 isn't JSON: payload")
        .hasLineCount(1);
    ok(cli.on("produce", "bad", "\"next\""));
    assertThat(ok(cli.on("consume", "bad", "g", "--count", "1"))).endsWith("\t\"next\"\n");
  }

  @Test
  void countedConsumptionsTogetherGetEveryMessageOnce() {
    ok(cli.on("stream", "register", "counted"));
    ok(cli.on("group", "register", "counted", "g"));
    String lines = IntStream.rangeClosed(1, 12).mapToObj(n -> n + "\n").collect(joining());
    ok(produceLines("counted", lines));
    List<String> consumed = new ArrayList<>();
    for (String count : List.of("1", "1", "3", "7")) {
      ok(cli.on("consume", "counted", "g", "--count", count)).lines().forEach(consumed::add);
    }
    assertThat(consumed)
        .map(line -> Integer.parseInt(line.substring(line.lastIndexOf('\t') + 1)))
        .containsExactlyInAnyOrderElementsOf(IntStream.rangeClosed(1, 12).boxed().toList());
  }

  private Cli.Result produceLines(String stream, String lines, String... options) {
    InputStream before = System.in;
    System.setIn(new ByteArrayInputStream(lines.getBytes(StandardCharsets.UTF_8)));
    try {
      List<String> arguments = new ArrayList<>(List.of("produce", stream));
      arguments.addAll(List.of(options));
      return cli.on(arguments.toArray(String[]::new));
    } finally {
      System.setIn(before);
    }
  }

  private static String ok(Cli.Result result) {
    assertThat(result.err()).isEmpty();
    assertThat(result.exitCode()).isZero();
    return result.out();
  }

  private static JsonNode json(Cli.Result result) {
    return JsonMapper.shared().readTree(ok(result));
  }
}
