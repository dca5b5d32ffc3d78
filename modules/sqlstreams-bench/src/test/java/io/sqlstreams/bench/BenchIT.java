package io.sqlstreams.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@SqlStreamsTest
class BenchIT {
  private static final int MESSAGES = 300;

  TestDatabase database;

  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private static final List<String> NAMES =
      List.of(
          "raw-limit",
          "produce",
          "produce-small",
          "produce-single",
          "idempotent",
          "idempotent-small",
          "idempotent-single",
          "produce-keyed",
          "produce-compacted",
          "produce-hot-key",
          "produce-single-compacted",
          "produce-single-hot-key",
          "paired",
          "failing",
          "logged",
          "transactional",
          "keyed",
          "ordered-10",
          "ordered-1000",
          "ordered-100000",
          "ordered-1000-by-2",
          "ordered-100000-by-2",
          "exclusive-10",
          "exclusive-1000",
          "exclusive-100000",
          "drain",
          "selective");

  private final StringWriter err = new StringWriter();

  @ParameterizedTest
  @CsvSource({"json, all", "jsonb, raw-limit produce paired", "bytea, raw-limit produce paired"})
  void everyScenarioRunsAndTellsItsFigures(String payloadType, String scenarios) throws Exception {
    Path file = folder.resolve("figures.json");
    int code =
        run(
            "%s --messages %d --rounds 2 --payload typed,raw --payload-type %s --statements --json %s"
                .formatted(scenarios, MESSAGES, payloadType, file));

    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("fsync = ", "warm-up  raw-limit", "round 2  paired raw", "messages/s");
    JsonNode report = JsonMapper.builder().build().readTree(file.toFile());
    assertThat(report.at("/server/synchronous_commit").asString()).isEqualTo("on");
    assertThat(report.at("/options/payload_type").asString()).isEqualTo(payloadType);
    List<String> names =
        scenarios.equals("all") ? NAMES : List.of("raw-limit", "produce", "paired");
    assertThat(report.get("scenarios"))
        .extracting(
            scenario ->
                scenario.get("scenario").asString() + " " + scenario.get("payload").asString())
        .containsExactlyElementsOf(
            Stream.of(
                    Stream.of("raw-limit raw"),
                    names.stream().skip(1).map(name -> name + " typed"),
                    names.stream().skip(1).map(name -> name + " raw"))
                .flatMap(each -> each)
                .toList());
    report.get("scenarios").forEach(BenchIT::assertFigures);
    double cpu = 0;
    for (JsonNode scenario : report.get("scenarios")) {
      cpu += scenario.at("/jvmCpuSeconds/median").asDouble();
    }
    assertThat(cpu).as("a short round can take less than a tick of the clock").isPositive();
    assertThat(leftSchemas()).isZero();
  }

  private static void assertFigures(JsonNode scenario) {
    String name = scenario.get("scenario").asString();
    assertThat(scenario.at("/messagesPerSecond/median").asDouble()).as(name).isPositive();
    assertThat(scenario.at("/ratioToRawLimit/median").asDouble()).as(name).isPositive();
    boolean produces = !name.equals("drain") && !name.equals("selective");
    if (produces) {
      assertThat(scenario.at("/walToPayload/median").asDouble()).as(name).isGreaterThan(1);
    }
    assertThat(scenario.get("rounds")).as(name).hasSize(2);
    for (JsonNode round : scenario.get("rounds")) {
      assertThat(round.get("messages").asLong()).as(name).isEqualTo(MESSAGES);
      if (produces) {
        assertThat(round.at("/callMillis/p50").asDouble()).as(name).isPositive();
      }
    }
    if (name.equals("raw-limit")) {
      assertThat(scenario.at("/ratioToRawLimit/median").asDouble()).isEqualTo(1);
    }
  }

  @Test
  void aTimeInsteadOfANumberOfMessages() {
    int code = run("paired --seconds 1 --rounds 1 --payload raw");
    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString()).contains("round 1  paired raw").contains("n/a");
  }

  private int run(String arguments) {
    String[] all = (arguments + " --url " + database.jdbcUrl()).split(" ", -1);
    return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), all);
  }

  private int leftSchemas() throws SQLException {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'bench\\_%'")) {
      row.next();
      return row.getInt(1);
    }
  }
}
