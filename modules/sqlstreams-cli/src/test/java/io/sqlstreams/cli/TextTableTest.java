package io.sqlstreams.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class TextTableTest {
  @Test
  void columnsAreAsWideAsWhatIsInThemAndNumbersStandToTheRight() {
    assertThat(
            TextTable.lines(
                List.of("name", "lag"),
                List.of(List.of("audit", "1,024"), List.of("search-index", "7"))))
        .containsExactly(
            "name             lag", //
            "audit          1,024",
            "search-index       7");
  }

  @Test
  void aColumnWithAnythingElseStandsToTheLeft() {
    assertThat(TextTable.lines(List.of("a", "b"), List.of(List.of("1", "x"), List.of("-", "y"))))
        .containsExactly("a   b", "1   x", "-   y");
  }

  @Test
  void headingsAlone() {
    assertThat(TextTable.lines(List.of("a", "b"), List.of())).containsExactly("a   b");
  }
}
