package io.sqlstreams.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class InputLineTest {
  @Test
  void linesAreUtf8AndKeepTheirNumbersWithoutTheEmptyOnes() throws IOException {
    String text = "{\"a\":\"\u00e6\ud83d\ude00\"}\n\n  \r\n{}";
    assertThat(InputLine.readAll(in(text.getBytes(UTF_8))))
        .containsExactly(
            new InputLine(1, "{\"a\":\"\u00e6\ud83d\ude00\"}"), new InputLine(4, "{}"));
  }

  @Test
  void whatIsNotUtf8IsRefused() {
    byte[] latin1 = {'{', '}', '\n', '"', (byte) 0xe6, '"'};
    assertThatThrownBy(() -> InputLine.readAll(in(latin1)))
        .isInstanceOf(CliException.class)
        .hasMessageContaining("UTF-8");
  }

  @ParameterizedTest
  @ValueSource(strings = {"{}", "1e400", " null ", "\"a\"", "{\"a\":1,\"a\":2}"})
  void json(String text) {
    assertThat(new InputLine(1, text).isJson()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{", "{} {}", "a", "{'a':1}", "NaN"})
  void notJson(String text) {
    assertThat(new InputLine(1, text).isJson()).isFalse();
  }

  private static InputStream in(byte[] bytes) {
    return new ByteArrayInputStream(bytes);
  }
}
