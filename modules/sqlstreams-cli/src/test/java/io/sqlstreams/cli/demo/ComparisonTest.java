package io.sqlstreams.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class ComparisonTest {
  @Test
  void allHandledOnceIsComplete() {
    Comparison comparison = Comparison.of("audit", tally(1, 2, 3), tally(3, 1, 2));
    assertThat(comparison).isEqualTo(new Comparison("audit", 3, 3, 0, 0, 0));
    assertThat(comparison.complete()).isTrue();
  }

  @Test
  void aLossIsSeen() {
    Comparison comparison = Comparison.of("audit", tally(1, 2, 3, 7), tally(1, 3));
    assertThat(comparison.lost()).isEqualTo(2);
    assertThat(comparison.complete()).isFalse();
  }

  @Test
  void aLossIsSeenBehindADuplicate() {
    Comparison comparison = Comparison.of("audit", tally(1, 2, 3), tally(1, 3, 3));
    assertThat(comparison).isEqualTo(new Comparison("audit", 3, 2, 1, 0, 1));
    assertThat(comparison.complete()).isFalse();
  }

  @Test
  void duplicatesAreCountedAndAllowed() {
    Comparison comparison = Comparison.of("audit", tally(1, 2), tally(1, 2, 2, 2, 1));
    assertThat(comparison.duplicates()).isEqualTo(3);
    assertThat(comparison.complete()).isTrue();
  }

  @Test
  void whatNobodyProducedIsSeen() {
    Comparison comparison = Comparison.of("audit", tally(1), tally(1, 2));
    assertThat(comparison.unknown()).isEqualTo(1);
    assertThat(comparison.complete()).isFalse();
  }

  @Test
  void theReportTellsTheSumOfTheGroups() {
    Comparison good = new Comparison("audit", 1_000, 1_000, 0, 0, 40);
    Comparison bad = new Comparison("search-index", 1_000, 998, 2, 1, 2);
    assertThat(report(List.of(good), true))
        .contains("lost 0\n", "duplicates 40: ")
        .doesNotContain("unknown", "no worker was killed");
    assertThat(report(List.of(good, bad), false))
        .containsPattern("audit +1,000 +1,000 +0 +40\n")
        .containsPattern("search-index +1,000 +998 +2 +2\n")
        .contains("lost 2\n", "duplicates 42\n", "unknown 1: ", "no worker was killed");
  }

  private static String report(List<Comparison> comparisons, boolean killed) {
    StringWriter text = new StringWriter();
    new Report(new PrintWriter(text)).verdict(comparisons, killed);
    return text.toString().replace(System.lineSeparator(), "\n");
  }

  private static Tally tally(long... ids) {
    Tally tally = new Tally();
    LongStream.of(ids).forEach(tally::add);
    return tally;
  }
}
