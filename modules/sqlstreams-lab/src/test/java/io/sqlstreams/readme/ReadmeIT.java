package io.sqlstreams.readme;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** What the README shows compiles, runs, and does what it says. */
@SqlStreamsTest
class ReadmeIT {
  private static final Path ROOT = root();

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
    String region =
        source.substring(
            source.indexOf("// README begins\n") + "// README begins\n".length(),
            source.indexOf("  // README ends"));
    String shown =
        region
            .lines()
            .map(line -> line.startsWith("  ") ? line.substring(2) : line)
            .collect(Collectors.joining("\n"))
            .strip();
    assertThat(readme).contains("```java\n" + shown + "\n```");
  }

  private static Path root() {
    Path path = Path.of("").toAbsolutePath();
    while (!Files.exists(path.resolve("README.md"))) {
      path = path.getParent();
    }
    return path;
  }
}
