package io.sqlstreams.internal.produce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonEscapesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "\"\\u0000\"",
        "\"\\ud800\"",
        "\"\\uDBFF\"",
        "\"\\udc00\"",
        "\"\\uDFFF\"",
        "\"\\ud83d\\ud83d\\ude00\"",
        "\"\\ud83d\\n\"",
        "\"\\\\\\u0000\"",
        "\"\\ud83d",
        "\"\\ud83d\\ude0",
        "{\"\\ud83d\":1}"
      })
  void findsWhatIsNoCharacter(String json) {
    assertThat(JsonEscapes.hasNoCharacter(json.getBytes(UTF_8))).isTrue();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{}",
        "\"\\u0001\"",
        "\"\\ud83d\\ude00\"",
        "\"\\uD83D\\uDE00x\"",
        "\"\\\\u0000\"",
        "\"\\\\\\\\ud800\"",
        "\"\\\"\\u00e9\"",
        "\"\\",
        "\"\\u",
        "\"\\u000",
        "\"\\u00\u00e9\u00e9\"",
        "\"\\uzzzz\"",
        "\"\ud83d\ude00\""
      })
  void letsTheRestPass(String json) {
    assertThat(JsonEscapes.hasNoCharacter(json.getBytes(UTF_8))).isFalse();
  }
}
