package io.sqlstreams.lab;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.internal.sql.Template;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** The library's statements as the server plans them. */
public final class Plans {
  private static final Pattern BUFFERS =
      Pattern.compile("Buffers: shared hit=(\\d+)(?: read=(\\d+))?");

  private Plans() {}

  /** Prepares a statement of this stream under this name. */
  public static void prepare(TestStream stream, Statement statement, String name, Template template)
      throws SQLException {
    statement.execute("PREPARE " + name + " AS " + numbered(template.in(stream.scope()).sql()));
  }

  /**
   * Runs a prepared statement and gives its plan, with what it did.
   *
   * @param values for each parameter an expression
   */
  public static String explain(
      TestStream stream,
      Statement statement,
      String name,
      Template template,
      Map<String, String> values)
      throws SQLException {
    String arguments =
        // in the order in which the parameters stand in the text
        template.in(stream.scope()).parameters().stream()
            .map(values::get)
            .collect(Collectors.joining(", ", "(", ")"));
    StringBuilder text = new StringBuilder();
    try (ResultSet row =
        statement.executeQuery(
            "EXPLAIN (ANALYZE, BUFFERS, COSTS OFF, TIMING OFF, SUMMARY ON) EXECUTE "
                + name
                + arguments)) {
      while (row.next()) {
        text.append(row.getString(1)).append('\n');
      }
    }
    return text.toString();
  }

  /** How many buffers the whole plan touched. */
  public static long buffers(String plan) {
    Matcher buffers = BUFFERS.matcher(plan);
    assertThat(buffers.find()).as(plan).isTrue();
    return Long.parseLong(buffers.group(1))
        + (buffers.group(2) == null ? 0 : Long.parseLong(buffers.group(2)));
  }

  private static String numbered(String sql) {
    StringBuilder numbered = new StringBuilder();
    int number = 0;
    for (String part : sql.split("\\?", -1)) {
      numbered.append(number == 0 ? "" : "$" + number).append(part);
      number++;
    }
    return numbered.toString();
  }
}
