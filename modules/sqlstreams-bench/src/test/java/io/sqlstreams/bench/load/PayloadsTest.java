package io.sqlstreams.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.json.JsonMapper;

class PayloadsTest {
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  @ParameterizedTest
  @ValueSource(ints = {Payloads.MIN_BYTES, 101, 199, 200, 399, 400, 999, 1_000, 1_001, 10_000})
  void everyPayloadHasExactlyItsSize(int bytes) {
    Payloads payloads = Payloads.of(bytes);
    assertThat(payloads.encoded()).hasSize(Payloads.COUNT).allMatch(json -> json.length == bytes);
    assertThat(payloads.raw()).hasSize(Payloads.COUNT).allMatch(raw -> raw.size() == bytes);
    assertThat(payloads.typed())
        .hasSize(Payloads.COUNT)
        .allMatch(order -> MAPPER.writeValueAsBytes(order).length == bytes);
  }

  @Test
  void encodedAndTypedAreTheSame() {
    Payloads payloads = Payloads.of(1_000);
    for (int i = 0; i < Payloads.COUNT; i++) {
      assertThat(MAPPER.readValue(payloads.encoded().get(i), Order.class))
          .isEqualTo(payloads.typed().get(i));
    }
  }

  @Test
  void everyRunSendsTheSame() {
    assertThat(Payloads.of(500).typed()).isEqualTo(Payloads.of(500).typed());
  }

  @Test
  void sizesWithoutRoomForTheFieldsAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Payloads.of(Payloads.MIN_BYTES - 1))
        .withMessageContaining("99");
    assertThatIllegalArgumentException().isThrownBy(() -> Payloads.of(Payloads.MAX_BYTES + 1));
  }
}
