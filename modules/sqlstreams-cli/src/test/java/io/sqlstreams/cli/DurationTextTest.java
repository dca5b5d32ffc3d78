package io.sqlstreams.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine.TypeConversionException;

class DurationTextTest {
  @ParameterizedTest
  @CsvSource({
    "500ms,PT0.5S",
    "30s,PT30S",
    "5m,PT5M",
    "12h,PT12H",
    "7d,PT168H",
    "0s,PT0S",
    "PT1M30S,PT1M30S"
  })
  void readsWhatPeopleWrite(String text, Duration expected) {
    assertThat(DurationText.parse(text)).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "5", "s", "5 s", "1.5s", "-3s", "5min", "999999999999999999d"})
  void refusesTheRest(String text) {
    assertThatThrownBy(() -> DurationText.parse(text))
        .isInstanceOf(TypeConversionException.class)
        .hasMessageContaining("30s");
  }

  @Test
  void isWhatTheOptionsUse() {
    assertThat(Cli.run("demo", "--lease", "1ms").err())
        .contains("must be from 1000 to 600000, not 1");
  }
}
