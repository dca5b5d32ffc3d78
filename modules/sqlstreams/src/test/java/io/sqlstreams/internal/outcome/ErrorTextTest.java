package io.sqlstreams.internal.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class ErrorTextTest {
  @Test
  void namesTheErrorAndItsCauses() {
    assertThat(ErrorText.of(new IllegalStateException("outer", new RuntimeException("inner"))))
        .isEqualTo(
            "java.lang.IllegalStateException: outer, caused by java.lang.RuntimeException: inner");
    assertThat(ErrorText.of(new Error())).isEqualTo("java.lang.Error");
  }

  @Test
  void endsWithACircleOfCauses() {
    Exception a = new Exception("a");
    a.initCause(new Exception("b", a));
    assertThat(ErrorText.of(a))
        .startsWith("java.lang.Exception: a, caused by")
        .hasSizeLessThan(1_000);
  }

  @Test
  void holdsOnlyWhatPostgresCanStore() {
    assertThat(ErrorText.clean("a\0b\uD800c\uDC00d😀")).isEqualTo("a\uFFFDb\uFFFDc\uFFFDd😀");
  }

  @Test
  void isCutToItsBytesAndNeverWithinACharacter() {
    String cut = ErrorText.clean("é".repeat(10_000));
    assertThat(cut.getBytes(StandardCharsets.UTF_8)).hasSize(ErrorText.MAX_BYTES);
    String odd = ErrorText.clean("x" + "é".repeat(10_000));
    assertThat(odd.getBytes(StandardCharsets.UTF_8)).hasSize(ErrorText.MAX_BYTES - 1);
    assertThat(odd).doesNotContain("\uFFFD");
  }
}
