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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@SqlStreamsTest
class BenchIT {
  private static final int MESSAGES = 300;

  TestDatabase database;

  @TempDir Path folder;

  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @ParameterizedTest
  @ValueSource(strings = {"json", "jsonb", "bytea"})
  void everyScenarioRunsAndTellsItsFigures(String payloadType) throws Exception {
    Path file = folder.resolve("figures.json");
    int code =
        run(
            "all --messages %d --rounds 2 --payload typed,raw --payload-type %s --statements --json %s"
                .formatted(MESSAGES, payloadType, file));

    assertThat(code).as(err.toString()).isZero();
    assertThat(out.toString())
        .contains("fsync = ", "warm-up  raw-limit", "round 2  paired raw", "messages/s");
    JsonNode report = JsonMapper.builder().build().readTree(file.toFile());
    assertThat(report.at("/server/synchronous_commit").asString()).isEqualTo("on");
    assertThat(report.at("/options/payload_type").asString()).isEqualTo(payloadType);
    assertThat(report.get("scenarios"))
        .extracting(
            scenario ->
                scenario.get("scenario").asString() + " " + scenario.get("payload").asString())
        .containsExactly(
            "raw-limit raw",
            "produce typed",
            "produce-small typed",
            "produce-single typed",
            "idempotent typed",
            "idempotent-small typed",
            "idempotent-single typed",
            "produce-keyed typed",
            "produce-compacted typed",
            "produce-hot-key typed",
            "produce-single-compacted typed",
            "produce-single-hot-key typed",
            "paired typed",
            "failing typed",
            "logged typed",
            "transactional typed",
            "drain typed",
            "selective typed",
            "produce raw",
            "produce-small raw",
            "produce-single raw",
            "idempotent raw",
            "idempotent-small raw",
            "idempotent-single raw",
            "produce-keyed raw",
            "produce-compacted raw",
            "produce-hot-key raw",
            "produce-single-compacted raw",
            "produce-single-hot-key raw",
            "paired raw",
            "failing raw",
            "logged raw",
            "transactional raw",
            "drain raw",
            "selective raw");
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
