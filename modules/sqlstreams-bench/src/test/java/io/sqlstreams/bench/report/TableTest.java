package io.sqlstreams.bench.report;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TableTest {
  @Test
  void columnsLineUp() {
    String text = new Table().row("name", "rate").row("a", "1,000").row("longer", "2").text();
    assertThat(text).isEqualTo("name     rate\na       1,000\nlonger      2\n");
  }
}
