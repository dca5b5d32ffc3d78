package io.sqlstreams.internal.codec;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.codec.SchemaVersion;
import io.sqlstreams.error.InvalidInputException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

class JsonCodecTest {
  record Order(String id, BigDecimal total, Optional<String> note) {}

  record Times(Instant at, LocalDate day, Duration length) {}

  @SchemaVersion(3)
  record Versioned(String id) {}

  @SchemaVersion(0)
  record Unversionable(String id) {}

  @Test
  void aRecordComesBackAsItWas() throws Exception {
    PayloadCodec<Order> codec = Codecs.forType(Order.class);
    Order order = new Order("o-1", new BigDecimal("12.30"), Optional.of("\u00e9 \ud83d\ude80"));
    assertThat(text(codec, order))
        .isEqualTo("{\"id\":\"o-1\",\"total\":12.30,\"note\":\"\u00e9 \ud83d\ude80\"}");
    assertThat(codec.decode(codec.encode(order))).isEqualTo(order);
  }

  @Test
  void javaTimeIsWrittenAsText() throws Exception {
    PayloadCodec<Times> codec = Codecs.forType(Times.class);
    Times times =
        new Times(
            Instant.parse("2026-03-29T01:30:00.123456789Z"),
            LocalDate.parse("2026-02-28"),
            Duration.ofMillis(1_500));
    assertThat(text(codec, times))
        .isEqualTo(
            "{\"at\":\"2026-03-29T01:30:00.123456789Z\",\"day\":\"2026-02-28\",\"length\":\"PT1.5S\"}");
    assertThat(codec.decode(codec.encode(times))).isEqualTo(times);
  }

  /** Case B45. */
  @Test
  void numbersWithoutATypeKeepEveryDigit() throws Exception {
    String json =
        "{\"id\":9007199254740993,\"x\":1.10,\"y\":1E+400,\"z\":123456789012345678901234567890.5,"
            + "\"n\":340282366920938463463374607431768211456}";
    PayloadCodec<JsonNode> tree = Codecs.forType(JsonNode.class);
    assertThat(text(tree, tree.decode(json.getBytes(UTF_8)))).isEqualTo(json);

    @SuppressWarnings("rawtypes")
    PayloadCodec<Map> map = Codecs.forType(Map.class);
    assertThat(text(map, map.decode(json.getBytes(UTF_8)))).isEqualTo(json);
    assertThat((Map<?, ?>) map.decode(json.getBytes(UTF_8)))
        .isEqualTo(
            Map.of(
                "id", 9007199254740993L,
                "x", new BigDecimal("1.10"),
                "y", new BigDecimal("1E+400"),
                "z", new BigDecimal("123456789012345678901234567890.5"),
                "n", BigInteger.TWO.pow(128)));
  }

  @Test
  void unknownPropertiesAreIgnored() throws Exception {
    PayloadCodec<Versioned> codec = Codecs.forType(Versioned.class);
    assertThat(codec.decode("{\"id\":\"a\",\"new\":{\"deep\":[1]}}".getBytes(UTF_8)))
        .isEqualTo(new Versioned("a"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "{",
        "{\"id\":",
        "{\"id\":\"a\"} x",
        "[]",
        "null",
        "{\"id\":{}}",
        "\u0000",
        "no"
      })
  void whatCannotBeReadIsAnException(String json) {
    PayloadCodec<Versioned> codec = Codecs.forType(Versioned.class);
    assertThatThrownBy(() -> codec.decode(json.getBytes(UTF_8))).isInstanceOf(Exception.class);
  }

  @Test
  void deepNestingIsAnExceptionAndNoError() {
    byte[] deep = ("[".repeat(50_000) + "]".repeat(50_000)).getBytes(UTF_8);
    for (Class<?> type : List.of(JsonNode.class, Object.class, List.class, Versioned.class)) {
      assertThatThrownBy(() -> Codecs.forType(type).decode(deep)).isInstanceOf(Exception.class);
    }
    List<Object> self = new ArrayList<>();
    self.add(self);
    PayloadCodec<Object> codec = Codecs.forType(Object.class);
    assertThatThrownBy(() -> codec.encode(self)).isInstanceOf(Exception.class);
  }

  @Test
  void aLongTextIsTheStreamsBusiness() throws Exception {
    PayloadCodec<String> codec = Codecs.forType(String.class);
    String text = "x".repeat(120_000_000);
    assertThat(codec.decode(codec.encode(text)).equals(text)).isTrue();
  }

  @Test
  void theVersionIsThatOfTheClass() {
    assertThat(Codecs.forType(Order.class).schemaVersion()).isEqualTo(1);
    assertThat(Codecs.forType(Versioned.class).schemaVersion()).isEqualTo(3);
    assertThatThrownBy(() -> Codecs.forType(Unversionable.class))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("schemaVersion: must be 1 or above, not 0");
  }

  @Test
  void bytesAreCopiedAndRawPayloadsAreNot() throws Exception {
    byte[] bytes = {0, 1, -1};
    assertThat(Codecs.forType(byte[].class).encode(bytes)).isNotSameAs(bytes).isEqualTo(bytes);
    assertThat(Codecs.forType(byte[].class).decode(bytes)).isNotSameAs(bytes).isEqualTo(bytes);
    RawPayload raw = Codecs.forType(RawPayload.class).decode(bytes);
    assertThat(raw).isEqualTo(RawPayload.of(bytes));
    assertThat(Codecs.forType(RawPayload.class).encode(raw)).isSameAs(bytes);
    assertThat(raw.bytes()).isNotSameAs(bytes).isEqualTo(bytes);
  }

  private static <T> String text(PayloadCodec<T> codec, T payload) throws Exception {
    return new String(codec.encode(payload), UTF_8);
  }
}
