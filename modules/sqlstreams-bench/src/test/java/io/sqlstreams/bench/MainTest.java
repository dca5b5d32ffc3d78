package io.sqlstreams.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class MainTest {
  private final StringWriter out = new StringWriter();
  private final StringWriter err = new StringWriter();

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "nonsense",
        "paired --rounds 0",
        "paired --messages 0",
        "paired --messages 5 --seconds 5",
        "paired --payload-bytes 99",
        "paired --payload-type xml",
        "paired --payload wrapped",
        "paired --max-claim 10001",
        "paired --nonsense"
      })
  void wrongUsageIsOneLineAndExitCode2(String arguments) {
    int code = run(arguments.isEmpty() ? new String[0] : arguments.split(" ", -1));
    assertThat(code).isEqualTo(2);
    assertThat(err.toString().strip()).startsWith("sqlstreams-bench: ").hasLineCount(1);
    assertThat(out.toString()).isEmpty();
  }

  @Test
  void aServerThatIsNotThereIsOneLineAndExitCode1() {
    int code = run("raw-limit", "--url", "jdbc:postgresql://localhost:1/postgres?connectTimeout=2");
    assertThat(code).isEqualTo(1);
    assertThat(err.toString().strip())
        .startsWith("sqlstreams-bench: ")
        .contains("localhost:1")
        .hasLineCount(1);
  }

  @Test
  void helpNamesTheScenarios() {
    assertThat(run("--help")).isZero();
    assertThat(out.toString()).contains("raw-limit", "produce", "produce-single", "paired", "all");
  }

  private int run(String... arguments) {
    return Main.run(new PrintWriter(out, true), new PrintWriter(err, true), arguments);
  }
}
