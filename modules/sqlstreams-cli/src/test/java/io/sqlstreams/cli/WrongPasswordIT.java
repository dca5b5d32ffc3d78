package io.sqlstreams.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Test;

/** On a server of its own: the one of the other tests trusts everybody. */
class WrongPasswordIT {
  @Test
  void aWrongPasswordIsOneLine() throws IOException, SQLException {
    try (EmbeddedPostgres server =
        EmbeddedPostgres.builder().setDataDirectoryCustomizer(WrongPasswordIT::askJoe).start()) {
      try (Connection connection = server.getPostgresDatabase().getConnection();
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE ROLE joe LOGIN SUPERUSER PASSWORD 'right'");
      }
      List<String> joe =
          List.of(
              "--url",
              "jdbc:postgresql://localhost:" + server.getPort() + "/postgres",
              "--user",
              "joe");
      Cli.Result wrong = new Cli(joe).on("system", "register", "--password", "wr0ng");
      assertThat(wrong.err())
          .startsWith("sqlstreams: ")
          .hasLineCount(1)
          .contains("password")
          .doesNotContain("wr0ng");
      assertThat(wrong.exitCode()).isEqualTo(1);
      Cli.Result consume = new Cli(joe).on("consume", "orders", "g", "--password", "wr0ng");
      assertThat(consume.err())
          .startsWith("sqlstreams: ")
          .hasLineCount(1)
          .contains("password")
          .doesNotContain("wr0ng");
      assertThat(consume.exitCode()).isEqualTo(1);
      assertThat(new Cli(joe).on("system", "register", "--password", "right").exitCode()).isZero();
    }
  }

  private static void askJoe(File data) {
    try {
      Files.writeString(
          data.toPath().resolve("pg_hba.conf"),
          "host all joe all scram-sha-256\nhost all all all trust\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
