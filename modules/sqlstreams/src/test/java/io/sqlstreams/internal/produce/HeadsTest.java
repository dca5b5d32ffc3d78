package io.sqlstreams.internal.produce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class HeadsTest {
  @Test
  void keysAreInTheOrderOfTheirBytesWhichIsNotThatOfJavasCharacters() {
    List<String> keys =
        List.of("", "a", "ab", "b", "\u00e9", "\ufffd", "\ud83d\ude00", "\ud83d\ude01", "\ue000");
    for (String one : keys) {
      for (String other : keys) {
        assertThat(Integer.signum(Heads.compareKeys(one, other)))
            .isEqualTo(
                Integer.signum(Arrays.compareUnsigned(one.getBytes(UTF_8), other.getBytes(UTF_8))));
      }
    }
  }
}
