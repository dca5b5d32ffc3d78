package io.sqlstreams.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** What people do by hand to a group's deliveries: look, redrive, discard, rewind. */
@SqlStreamsTest
class OperationsIT {
  TestDatabase database;
  private Cli cli;

  @BeforeEach
  void fiveMessagesOfWhichThreeAreDead() throws InterruptedException {
    cli = new Cli(List.of("--url", database.jdbcUrl(), "--schema", database.schema()));
    try (SqlStreams client =
        SqlStreams.builder(database.dataSource())
            .schema(database.schema())
            .allowDestroy(true)
            .build()) {
      client.stream("orders").destroy();
      client.stream("orders").register();
      client.stream("orders").group("billing").register();
      for (int i = 0; i < 5; i++) {
        client.stream("orders").producer().produce(RawPayload.of("{}"));
      }
      CountDownLatch handled = new CountDownLatch(5);
      Consumption consumption =
          client.stream("orders")
              .group("billing")
              .consume(
                  message -> {
                    handled.countDown();
                    return message.id() > 2
                        ? Outcome.dead("no such customer\n" + message.id())
                        : Outcome.done();
                  });
      handled.await();
      consumption.stop();
    }
  }

  @Test
  void theQueueIsListedAndFiltered() {
    JsonNode dead = json(cli.on("exceptions", "list", "orders", "billing", "-o", "json"));
    assertThat(dead.findValuesAsString("messageId")).containsExactly("3", "4", "5");
    assertThat(dead.findValuesAsString("status")).containsOnly("dead");
    assertThat(
            json(cli.on(
                    "exceptions",
                    "list",
                    "orders",
                    "billing",
                    "--status",
                    "dead,ready",
                    "--error",
                    "customer",
                    "--after",
                    "3",
                    "--limit",
                    "1",
                    "-o",
                    "json"))
                .findValuesAsString("messageId"))
        .containsExactly("4");
    assertThat(ok(cli.on("exceptions", "list", "orders", "billing", "--status", "inflight")))
        .startsWith("no such message");
  }

  @Test
  void theDeadAreRedrivenOrDiscarded() {
    assertThat(ok(cli.on("exceptions", "redrive", "orders", "billing", "--limit", "1")))
        .startsWith("redrove 1 messages");
    Cli.Result refused = cli.on("exceptions", "discard", "orders", "billing");
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).contains("nothing was changed", "--yes");
    assertThat(ok(cli.on("exceptions", "discard", "orders", "billing", "--first-id", "5", "--yes")))
        .startsWith("discarded 1 messages");
    JsonNode left = json(cli.on("exceptions", "list", "orders", "billing", "-o", "json"));
    assertThat(left.findValuesAsString("messageId")).containsExactly("3", "4");
    assertThat(left.findValuesAsString("status")).containsExactly("ready", "dead");
  }

  @Test
  void theStatusAndTheBindingsAreShown() {
    JsonNode status = json(cli.on("group", "status", "orders", "billing", "-o", "json"));
    assertThat(status.get("claimed").longValue()).isEqualTo(5);
    assertThat(status.get("dead").intValue()).isEqualTo(3);
    assertThat(status.get("lag").longValue()).isZero();
    assertThat(ok(cli.on("group", "bindings", "orders", "billing")))
        .containsPattern("state +installed");
  }

  @Test
  void aRewindSaysFirstWhatItDoesAndAsks() {
    JsonNode preview =
        json(
            cli.on(
                "group",
                "rewind",
                "orders",
                "billing",
                "--to",
                "after:1",
                "--preview",
                "-o",
                "json"));
    assertThat(preview.get("messages").longValue()).isEqualTo(4);
    Cli.Result refused = cli.on("group", "rewind", "orders", "billing", "--to", "after:1");
    assertThat(refused.exitCode()).isEqualTo(1);
    assertThat(refused.err()).contains("delivers 4 messages again", "--yes");
    assertThat(
            json(cli.on("group", "status", "orders", "billing", "-o", "json"))
                .get("lag")
                .longValue())
        .isZero();
    ok(cli.on("group", "rewind", "orders", "billing", "--to", "after:1", "--yes"));
    assertThat(
            json(cli.on("group", "status", "orders", "billing", "-o", "json"))
                .get("lag")
                .longValue())
        .isEqualTo(4);
  }

  @Test
  void aMessageIsShownWithItsHistory() {
    assertThat(ok(cli.on("stream", "message", "orders", "4")))
        .containsPattern("payload +\\{}")
        .containsPattern("group billing +\\[dead, .* attempt 0 killed: no such customer 4");
    Cli.Result missing = cli.on("stream", "message", "orders", "99");
    assertThat(missing.exitCode()).isEqualTo(1);
    assertThat(missing.err()).contains("holds no message 99");
    JsonNode versions = json(cli.on("stream", "versions", "orders", "-o", "json"));
    assertThat(versions.get(0).get("canRetire").booleanValue()).isFalse();
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
