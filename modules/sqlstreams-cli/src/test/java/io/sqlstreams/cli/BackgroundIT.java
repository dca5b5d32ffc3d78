package io.sqlstreams.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** Workers and schedules, and what is refused of them without a trace. */
@SqlStreamsTest
class BackgroundIT {
  TestDatabase database;
  private Cli cli;

  @BeforeEach
  void connect() {
    cli = new Cli(List.of("--url", database.jdbcUrl(), "--schema", database.schema()));
    ok(cli.on("stream", "register", "orders", "--retention", "30d"));
  }

  @Test
  void aWorkerIsSuspendedAndResumed() {
    assertThat(ok(cli.on("worker", "list"))).contains("cursor_advancer", "stream_janitor");
    ok(cli.on("worker", "suspend", "stream_janitor", "--stream", "orders"));
    assertThat(janitor().get("suspended").booleanValue()).isTrue();
    assertFails(
        cli.on("worker", "suspend", "stream_janitor", "--stream", "orders"), "suspended already");
    assertThat(janitor().get("suspended").booleanValue()).isTrue();
    ok(cli.on("worker", "resume", "stream_janitor", "--stream", "orders"));
    assertThat(janitor().get("suspended").booleanValue()).isFalse();
    assertFails(
        cli.on("worker", "resume", "stream_janitor", "--stream", "orders"), "isn't suspended");
    assertFails(cli.on("worker", "get", "gardener"), "gardener", "cursor_advancer");
    assertFails(cli.on("worker", "get", "stream_janitor", "--stream", "nowhere"), "nowhere");
  }

  @Test
  void aScheduleFromRegistrationToTheEnd() {
    ok(
        cli.on(
            "schedule",
            "register",
            "nightly",
            "orders",
            "0 2 * * *",
            "{\"run\":true}",
            "--zone",
            "Europe/Oslo"));
    JsonNode shown = json(cli.on("schedule", "get", "nightly", "-o", "json"));
    assertThat(shown.get("zone").stringValue()).isEqualTo("Europe/Oslo");
    List<Instant> next =
        ok(cli.on("schedule", "next", "nightly", "--count", "4"))
            .lines()
            .map(Instant::parse)
            .toList();
    assertThat(next).hasSize(4).isSorted();
    assertThat(ok(cli.on("schedule", "run", "nightly"))).startsWith("produced message ");
    ok(cli.on("schedule", "suspend", "nightly"));
    assertFails(cli.on("schedule", "suspend", "nightly"), "suspended already");
    assertThat(ok(cli.on("schedule", "next", "nightly"))).isEmpty();
    ok(cli.on("schedule", "resume", "nightly"));
    assertFails(cli.on("schedule", "resume", "nightly"), "isn't suspended");
    assertThat(ok(cli.on("schedule", "status", "nightly"))).containsPattern("suspended +false");
    assertFails(cli.on("schedule", "destroy", "nightly"), "--yes");
    ok(cli.on("schedule", "destroy", "nightly", "--yes"));
    assertThat(ok(cli.on("schedule", "list"))).startsWith("no schedule");
  }

  @Test
  void whatMakesNoSenseLeavesNoTrace() {
    assertFails(register("0 0 30 2 *", "orders", "UTC"), "0 0 30 2 *");
    assertFails(register("61 * * * *", "orders", "UTC"), "minute");
    assertFails(register("every day", "orders", "UTC"), "every day");
    assertFails(register("0 2 * * *", "orders", "Europe/Olso"), "Europe/Olso");
    assertFails(register("0 2 * * *", "nowhere", "UTC"), "nowhere");
    assertThat(ok(cli.on("schedule", "list"))).startsWith("no schedule");
    assertFails(cli.on("schedule", "get", "odd"), "odd");
    assertFails(cli.on("stream", "register", "orders", "--retention", "0s"), "retention");
    assertFails(cli.on("stream", "register", "orders", "--retention", "1s"), "retention");
    assertThat(ok(cli.on("stream", "get", "orders"))).contains("PT720H");
    assertFails(cli.on("migrate", "up", "--scope", "stream", "--to", "77"), "77");
  }

  private Cli.Result register(String cron, String stream, String zone) {
    return cli.on("schedule", "register", "odd", stream, cron, "{}", "--zone", zone);
  }

  private JsonNode janitor() {
    return json(
        cli.on("worker", "get", "stream_janitor", "--stream", "orders", "--output", "json"));
  }

  private static void assertFails(Cli.Result result, String... inMessage) {
    assertThat(result.err()).startsWith("sqlstreams: ").hasLineCount(1).contains(inMessage);
    assertThat(result.exitCode()).isEqualTo(1);
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
