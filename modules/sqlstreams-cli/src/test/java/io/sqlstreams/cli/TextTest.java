package io.sqlstreams.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TextTest {
  @Test
  void aPayloadKeepsEveryCharacter() {
    String json =
        "{\"id\":9007199254740993,\"x\":1.10,\"y\":1e400,\"a\":\"\u00e6\\u0041\",\"a\":2}";
    assertThat(Text.payload(json.getBytes(UTF_8))).isEqualTo(json);
  }

  @Test
  void aPayloadIsOneLine() {
    assertThat(Text.payload("{\n\t\"a\": 1\r\n}".getBytes(UTF_8))).isEqualTo("{  \"a\": 1  }");
  }

  @Test
  void bytesThatAreNotTextAreBase64() {
    assertThat(Text.payload(new byte[] {(byte) 0xff, 0x01})).isEqualTo("base64:/wE=");
    assertThat(Text.payload("\u001b[2J".getBytes(UTF_8))).startsWith("base64:");
  }

  @Test
  void noControlCharacterReachesTheTerminal() {
    assertThat(Text.orNone("a\u001b[31m\nb\u0000")).isEqualTo("a [31m b");
    assertThat(Text.orNone(null)).isEqualTo("-");
    assertThat(Text.orNone("")).isEmpty();
  }

  @Test
  void argumentsAreReadableWhenTheyAreAscii() {
    assertThat(Arguments.isAscii("java\0-jar\0produce\0{}".getBytes(UTF_8))).isTrue();
    assertThat(Arguments.isAscii("java\0-jar\0produce\0\u00e6".getBytes(UTF_8))).isFalse();
  }
}
