package io.sqlstreams.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.sqlstreams.test.TestPostgres;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Each example runs to its end and prints what it is about. */
class ExamplesIT {
  private static final Path SOURCES = Path.of("src/main/java/io/sqlstreams/examples");

  /** The {@code main} of an example. */
  interface Program {
    void run(String[] args) throws Exception;
  }

  static Stream<Arguments> programs() {
    return Stream.of(
        arguments(
            "Outbox",
            (Program) Outbox::main,
            """
            o-1 is placed, its message is 1
            o-2 is refused, and so its message is gone too
            o-3 is placed, its message is 3
            the warehouse packs o-1
            the warehouse packs o-3
            nothing is left: true
            """),
        arguments(
            "IdempotentProduce",
            (Program) IdempotentProduce::main,
            """
            the webhook: written as message 1
            the webhook again: known as message 1
            another amount: known as message 1, but with another payload
            the nightly import: known as message 1
            the nightly import: written as message 2
            the reconciliation: known as message 2
            """),
        arguments(
            "Schedules",
            (Program) Schedules::main,
            """
            registered: 30 2 * * * Europe/Oslo
            runs at 2025-03-29T02:30+01:00[Europe/Oslo]
            runs at 2025-03-30T03:00+02:00[Europe/Oslo]
            runs at 2025-03-31T02:30+02:00[Europe/Oslo]
            writes the invoices of eu, asked for by hand
            suspended: true
            next runs: []
            resumed: true
            next runs: 3
            """),
        arguments(
            "KeyedOrdering",
            (Program) KeyedOrdering::main,
            """
            alice's account is frozen, booked are {alice=[100], bob=[20, -5, 1], carol=[50]}
            it is released, booked are {alice=[-30, 10]}
            nothing is left: true
            """),
        arguments(
            "KeyValue",
            (Program) KeyValue::main,
            """
            tea: 320 by message 4
            tea: 335 by message 5
            milk: never heard of
            cocoa: deleted
            the web site shows coffee for 450
            the web site shows tea for 335
            the web site shows no cocoa
            nothing is left: true
            tea had 3 prices
            """),
        arguments(
            "Routing",
            (Program) Routing::main,
            """
            customs gets [basel, oslo]
            the courier gets [berlin, oslo]
            customs reads [orders.ch.*, orders.no.*, orders.uk.*] above message 5, INSTALLED
            customs gets [leeds, geneva]
            """),
        arguments(
            "SchemaEvolution",
            (Program) SchemaEvolution::main,
            """
            it reads the versions [1, 2]
            newsletter has 2 of version 1 to read
            version 1 can be retired: false
            SignedUp[firstName=Ada, lastName=Lovelace], written as 1
            SignedUp[firstName=Plato, lastName=], written as 1
            SignedUp[firstName=Grace, lastName=Hopper], written as 2
            newsletter has 0 of version 1 to read
            version 1 can be retired: true
            """));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("programs")
  @Timeout(60)
  void itPrintsWhatItIsAbout(String name, Program program, String expected) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    PrintStream before = System.out;
    System.setOut(new PrintStream(out, true, UTF_8));
    try {
      program.run(new String[] {TestPostgres.get().jdbcUrl()});
    } finally {
      System.setOut(before);
    }
    assertThat(out.toString(UTF_8).lines()).containsExactlyElementsOf(expected.lines().toList());
    assertThat(leftSchemas()).isZero();
  }

  @Test
  void eachExampleRunsHereAndStandsInTheReadme() throws IOException {
    List<String> tested = programs().map(program -> (String) program.get()[0]).toList();
    String readme = Files.readString(Path.of("README.md"));
    for (Path source : sources()) {
      String text = Files.readString(source);
      if (text.contains("void main(")) {
        String name = source.getFileName().toString().replace(".java", "");
        assertThat(tested).contains(name);
        assertThat(readme).contains("[" + name + "](" + source + ")");
      }
    }
  }

  @Test
  void theyUseWhatEveryoneCanUse() throws IOException {
    for (Path source : sources()) {
      assertThat(Files.readString(source)).doesNotContain("sqlstreams.internal");
    }
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return files.sorted().toList();
    }
  }

  private static int leftSchemas() throws SQLException {
    try (Connection connection = DriverManager.getConnection(TestPostgres.get().jdbcUrl());
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT count(*) FROM pg_namespace WHERE nspname LIKE 'example\\_%'")) {
      row.next();
      return row.getInt(1);
    }
  }
}
