package io.sqlstreams.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ScreenTest {
  private static final List<GroupProgress> GROUPS =
      List.of(
          new GroupProgress("audit", 12_345, 10_000, 8, 51, 2),
          new GroupProgress("search-index", 12_345, 12_346, 0, 0, 1));

  private final StringWriter text = new StringWriter();

  @Test
  void linesComeEveryTwoSeconds() {
    Screen screen = Screen.of(new PrintWriter(text), false);
    for (int millis = 0; millis < 4_000; millis += 50) {
      screen.progress(Duration.ofMillis(millis), GROUPS);
    }
    screen.event(Duration.ofMillis(4_100), "killed worker audit-1 (pid 7)");
    assertThat(text.toString().lines())
        .containsExactly(
            "  0.0 s   produced 12,345 | audit: handled 10,000, in flight 8, retries 51, lag 2,345"
                + " | search-index: handled 12,346, in flight 0, retries 0, lag 0",
            "  2.0 s   produced 12,345 | audit: handled 10,000, in flight 8, retries 51, lag 2,345"
                + " | search-index: handled 12,346, in flight 0, retries 0, lag 0",
            "  4.1 s   killed worker audit-1 (pid 7)");
  }

  @Test
  void theTableIsRedrawnBelowTheEvents() {
    Screen screen = Screen.of(new PrintWriter(text), true);
    screen.event(Duration.ZERO, "begin");
    screen.progress(Duration.ZERO, GROUPS);
    screen.event(Duration.ofSeconds(1), "killed worker audit-1 (pid 7)");
    String table =
        """

        group          produced   handled   in flight   retries     lag   workers
        audit            12,345    10,000           8        51   2,345         2
        search-index     12,345    12,346           0         0       0         1
        """;
    String takenOff = "\u001b[1A\u001b[2K".repeat(4);
    assertThat(text.toString().replace(System.lineSeparator(), "\n"))
        .isEqualTo(
            "  0.0 s   begin\n"
                + table
                + takenOff
                + "  1.0 s   killed worker audit-1 (pid 7)\n"
                + table);
  }
}
