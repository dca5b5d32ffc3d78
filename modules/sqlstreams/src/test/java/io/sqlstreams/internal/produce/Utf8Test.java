package io.sqlstreams.internal.produce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;

class Utf8Test {
  @Test
  void theLengthIsThatOfTheBytes() {
    for (String text :
        new String[] {
          "",
          "a",
          "\u007f",
          "\u0080",
          "\u07ff",
          "\u0800",
          "\uffff",
          "\ud800\udc00",
          "a\udbff\udfffb"
        }) {
      assertThat(Utf8.length(text)).isEqualTo(text.getBytes(UTF_8).length);
    }
    assertThat(Utf8.length("abc\0")).isEqualTo(Utf8.HAS_NUL);
    assertThat(Utf8.length("abc\ud800")).isEqualTo(Utf8.HAS_LONE_SURROGATE);
    assertThat(Utf8.length("\udc00\ud800")).isEqualTo(Utf8.HAS_LONE_SURROGATE);
  }

  @Test
  void everyCharacterIsValidButNul() {
    for (int character = 1; character <= Character.MAX_CODE_POINT; character++) {
      if (character < Character.MIN_SURROGATE || character > Character.MAX_SURROGATE) {
        byte[] bytes = Character.toString(character).getBytes(UTF_8);
        assertThat(Utf8.firstInvalid(bytes)).as("U+%04X", character).isEqualTo(-1);
      }
    }
  }

  @Test
  void nulIsFoundAtEveryPlaceOfAWord() {
    for (int length = 1; length < 40; length++) {
      for (int at = 0; at < length; at++) {
        byte[] bytes = new byte[length];
        Arrays.fill(bytes, (byte) 'x');
        assertThat(Utf8.firstInvalid(bytes)).isEqualTo(-1);
        bytes[at] = 0;
        assertThat(Utf8.firstInvalid(bytes)).isEqualTo(at);
        bytes[at] = 1;
        assertThat(Utf8.firstInvalid(bytes)).isEqualTo(-1);
        bytes[at] = (byte) 0xff;
        assertThat(Utf8.firstInvalid(bytes)).isEqualTo(at);
      }
    }
  }

  /** The JDK's strict decoder has the same opinion, except that it takes U+0000. */
  @Test
  void randomBytesAreJudgedAsByTheJdk() {
    long seed = new Random().nextLong();
    Random random = new Random(seed);
    int[] alphabet = {
      'a', 0x7f, 0x80, 0xa0, 0xbf, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xed, 0xef, 0xf0, 0xf1, 0xf4, 0xf5,
      0x8f, 0x90, 0x9f
    };
    for (int round = 0; round < 200_000; round++) {
      byte[] bytes = new byte[1 + random.nextInt(12)];
      for (int i = 0; i < bytes.length; i++) {
        bytes[i] = (byte) alphabet[random.nextInt(alphabet.length)];
      }
      assertThat(Utf8.firstInvalid(bytes) == -1)
          .as("seed %d: %s", seed, Arrays.toString(bytes))
          .isEqualTo(decodes(bytes));
    }
  }

  private static boolean decodes(byte[] bytes) {
    try {
      UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
      return true;
    } catch (CharacterCodingException e) {
      return false;
    }
  }
}
