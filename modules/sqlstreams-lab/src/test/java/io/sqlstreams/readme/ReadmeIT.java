package io.sqlstreams.readme;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the README shows compiles, runs, and does what it says. */
@SqlStreamsTest
class ReadmeIT {
  private static final Path ROOT = root();
  private static final Pattern REGION =
      Pattern.compile("// README begins\\n(.*?)  // README ends", Pattern.DOTALL);

  TestDatabase database;

  @Test
  void theExampleRuns() throws Exception {
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 4)) {
      try (Connection connection = pool.getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE readme_orders (id TEXT)");
      }
      try {
        ReadmeExample.run(pool);
        assertThat(ReadmeExample.CHARGED)
            .containsExactly(new ReadmeExample.OrderPlaced("o-1", new BigDecimal("9.90")));
        try (SqlStreams client = SqlStreams.builder(pool).build()) {
          StreamHandle<ReadmeExample.OrderPlaced> orders =
              client.stream("orders.placed", ReadmeExample.OrderPlaced.class);
          try (Consumption invoices = ReadmeExample.invoices(orders)) {
            Await.until("the invoice is there", () -> invoices.counters().done() == 1);
          }
          orders
              .producer()
              .produce(
                  new ReadmeExample.OrderPlaced("o-2", BigDecimal.ONE),
                  ProduceOptions.defaults().withRoutingKey("orders.eu.placed"));
          List<ReadmeExample.OrderPlacedV2> seen = new CopyOnWriteArrayList<>();
          try (Consumption europe =
              ReadmeExample.europe(client)
                  .consume(
                      message -> {
                        seen.add(message.payload());
                        return Outcome.done();
                      })) {
            Await.until("it is read", () -> !seen.isEmpty());
          }
          assertThat(seen)
              .containsExactly(new ReadmeExample.OrderPlacedV2("o-2", BigDecimal.ONE, "EUR"));
          assertThat(ReadmeExample.lookAfter(orders.group("invoices"))).isZero();
          assertThat(ReadmeExample.everyNight(client).nextTimes(2)).hasSize(2);
          client.stream("stocks").register();
          assertThat(ReadmeExample.sell(client, "a-1")).isEqualTo(9);
        }
      } finally {
        try (SqlStreams client = SqlStreams.builder(pool).allowDestroy(true).build();
            Connection connection = pool.getConnection();
            Statement statement = connection.createStatement()) {
          client.system().destroy();
          statement.execute("DROP TABLE readme_orders");
        }
      }
    }
  }

  @Test
  void theReadmeShowsWhatRuns() throws IOException {
    String readme = Files.readString(ROOT.resolve("README.md"));
    String source =
        Files.readString(
            ROOT.resolve(
                "modules/sqlstreams-lab/src/test/java/io/sqlstreams/readme/ReadmeExample.java"));
    Matcher region = REGION.matcher(source);
    int regions = 0;
    while (region.find()) {
      String shown =
          region
              .group(1)
              .lines()
              .map(line -> line.startsWith("  ") ? line.substring(2) : line)
              .collect(Collectors.joining("\n"))
              .strip();
      assertThat(readme).contains("```java\n" + shown + "\n```");
      regions++;
    }
    assertThat(regions).isEqualTo(readme.split("```java\n", -1).length - 1);
  }

  private static Path root() {
    Path path = Path.of("").toAbsolutePath();
    while (!Files.exists(path.resolve("README.md"))) {
      path = path.getParent();
    }
    return path;
  }
}
