package io.sqlstreams.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.IOException;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each failure is one line that says what to do, and exit code 1. */
@SqlStreamsTest
class ErrorsIT {
  static TestDatabase shared;
  static String powerless;
  TestDatabase database;
  private Cli cli;

  @BeforeAll
  static void prepare() throws SQLException {
    powerless = shared.schema() + "_role";
    execute("CREATE ROLE " + powerless + " LOGIN");
    Cli.Result registered = of(shared).on("stream", "register", "orders");
    assertThat(registered.exitCode()).isZero();
  }

  @AfterAll
  static void dropRole() throws SQLException {
    execute("DROP ROLE " + powerless);
  }

  @BeforeEach
  void connect() {
    cli = of(database);
  }

  @Test
  void anUnknownStream() {
    for (List<String> command :
        List.of(
            List.of("stream", "get", "Orders"),
            List.of("stream", "rename", "Orders", "o2"),
            List.of("stream", "destroy", "Orders", "--yes"),
            List.of("group", "list", "Orders"),
            List.of("group", "register", "Orders", "g"),
            List.of("produce", "Orders", "{}"),
            List.of("system", "grants", "--role", "producer", "p", "--stream", "Orders"),
            List.of("consume", "Orders", "g"))) {
      assertFails(
          cli.on(command.toArray(String[]::new)),
          "stream \"Orders\" isn't registered",
          "register it first");
    }
  }

  @Test
  void anUnknownGroup() {
    for (String verb : List.of("get", "destroy")) {
      List<String> args = new ArrayList<>(List.of("group", verb, "orders", "nobody"));
      if (verb.equals("destroy")) {
        args.add("--yes");
      }
      assertFails(
          cli.on(args.toArray(String[]::new)),
          "group \"nobody\" isn't registered on stream \"orders\"");
    }
    assertFails(cli.on("consume", "orders", "nobody"), "group \"nobody\" isn't registered");
  }

  @Test
  void noInstallationInTheSchema() {
    Cli elsewhere = new Cli(List.of("--url", database.jdbcUrl(), "--schema", "nothing_here"));
    assertFails(elsewhere.on("stream", "list"), "no SQLStreams installation", "nothing_here");
    assertFails(
        elsewhere.on("system", "destroy", "--yes"), "no SQLStreams installation", "nothing_here");
    assertFails(elsewhere.on("produce", "orders", "{}"), "nothing_here");
    assertFails(elsewhere.on("migrate", "up"), "nothing_here", "system register");
    assertFails(elsewhere.on("system", "grants", "--role", "monitor", "m"), "nothing_here");
  }

  @Test
  void aWrongName() {
    assertFails(cli.on("stream", "register", "two words"), "name", "two words");
    assertFails(cli.on("stream", "rename", "orders", "a/b"), "name");
  }

  @Test
  void aDeclarationThatConflicts() {
    assertFails(
        cli.on("stream", "register", "orders", "--payload-type", "bytea"),
        "orders",
        "JSON",
        "BYTEA");
  }

  @Test
  void anOversizedOrDirtyKey() {
    assertFails(
        cli.on("produce", "orders", "{}", "--key", "\u00e6".repeat(513)), "1026 bytes", "1024");
    assertFails(cli.on("produce", "orders", "{}", "--routing-key", "a\0b"), "U+0000");
    assertFails(cli.on("produce", "orders", "{}", "--key", "a\ud800"), "surrogate");
    assertFails(
        cli.on("produce", "orders", "{}", "--header", "a=" + "x".repeat(70_000)),
        "headers",
        "65536");
  }

  @Test
  void aPayloadThatIsNotJson() {
    assertFails(cli.on("produce", "orders", "{\"a\":"), "payload");
  }

  @Test
  void aServerThatCannotBeReached() throws IOException {
    int free;
    try (ServerSocket socket = new ServerSocket(0)) {
      free = socket.getLocalPort();
    }
    Cli nobody =
        new Cli(
            List.of("--url", "jdbc:postgresql://localhost:" + free + "/postgres?user=postgres"));
    assertFails(nobody.on("stream", "list"), "no connection to the database", "localhost:" + free);
    assertFails(nobody.on("produce", "orders", "{}"), "no connection to the database");
    assertFails(
        nobody.on("consume", "orders", "g"), "no connection to the database", "localhost:" + free);
  }

  @Test
  void aRoleWithoutRights() {
    Cli stranger =
        new Cli(
            List.of(
                "--url", database.jdbcUrl(), "--schema", database.schema(), "--user", powerless));
    assertFails(stranger.on("stream", "list"), "permission denied", "grant");
    assertFails(stranger.on("produce", "orders", "{}"), "permission denied", "grant");
    assertFails(stranger.on("stream", "register", "more"), "permission denied", "grant");
    Cli elsewhere =
        new Cli(
            List.of("--url", database.jdbcUrl(), "--schema", "nothing_here", "--user", powerless));
    assertFails(elsewhere.on("system", "register"), "permission denied", "grant");
  }

  @Test
  void destroyingWithoutAnAnswer() {
    assertFails(cli.on("stream", "destroy", "orders"), "nothing was changed", "--yes");
    assertFails(cli.on("system", "destroy"), "nothing was changed", "--yes");
    assertThat(cli.on("stream", "get", "orders").exitCode()).isZero();
  }

  private static Cli of(TestDatabase database) {
    return new Cli(List.of("--url", database.jdbcUrl(), "--schema", database.schema()));
  }

  private static void assertFails(Cli.Result result, String... inMessage) {
    assertThat(result.err()).startsWith("sqlstreams: ").hasLineCount(1).contains(inMessage);
    assertThat(result.out()).isEmpty();
    assertThat(result.exitCode()).isEqualTo(1);
  }

  private static void execute(String sql) throws SQLException {
    try (Connection connection = shared.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
