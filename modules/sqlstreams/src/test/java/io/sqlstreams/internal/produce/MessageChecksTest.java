package io.sqlstreams.internal.produce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageChecksTest {
  private static final String NUL = "a\0b";
  private static final String HIGH_ALONE = "a\ud83d";
  private static final String LOW_ALONE = "\ude00b";
  private static final String EMOJI = "\ud83d\ude00";

  @Test
  void b46_aKeyMayBeMissingOrEmptyAndIsMeasuredInBytes() {
    assertThatCode(() -> MessageChecks.key("messageKey", null)).doesNotThrowAnyException();
    assertThatCode(() -> MessageChecks.key("messageKey", "")).doesNotThrowAnyException();
    assertThatCode(() -> MessageChecks.key("messageKey", "k".repeat(1_023)))
        .doesNotThrowAnyException();
    assertThatCode(() -> MessageChecks.key("messageKey", "k".repeat(1_024)))
        .doesNotThrowAnyException();
    assertThatCode(() -> MessageChecks.key("messageKey", "\u00e9".repeat(512)))
        .doesNotThrowAnyException();
    assertThatCode(() -> MessageChecks.key("messageKey", EMOJI.repeat(256)))
        .doesNotThrowAnyException();
    refused("messageKey", "1025 bytes", () -> MessageChecks.key("messageKey", "k".repeat(1_025)));
    refused(
        "routingKey", "limit is 1024", () -> MessageChecks.key("routingKey", "\u00e9".repeat(513)));
    refused("routingKey", "1028 bytes", () -> MessageChecks.key("routingKey", EMOJI.repeat(257)));
  }

  @ParameterizedTest
  @ValueSource(strings = {NUL, HIGH_ALONE, LOW_ALONE, LOW_ALONE + HIGH_ALONE, "\ud83dx\ude00"})
  void textThatPostgresqlCannotHoldIsRefusedEverywhere(String text) {
    refused("messageKey", "", () -> MessageChecks.key("messageKey", text));
    refused("headers", "a name", () -> MessageChecks.headers(Map.of(text, "v")));
    refused("headers", "a value", () -> MessageChecks.headers(Map.of("n", text)));
  }

  @Test
  void headersAreMeasuredTogether() {
    assertThatCode(() -> MessageChecks.headers(Map.of())).doesNotThrowAnyException();
    assertThatCode(() -> MessageChecks.headers(Map.of("", EMOJI))).doesNotThrowAnyException();
    assertThatCode(() -> MessageChecks.headers(Map.of("ab", "v".repeat(65_534))))
        .doesNotThrowAnyException();
    refused(
        "headers", "65537 bytes", () -> MessageChecks.headers(Map.of("ab", "v".repeat(65_535))));
    refused(
        "headers",
        "limit is 65536",
        () -> MessageChecks.headers(Map.of("a", "v".repeat(40_000), "b", "v".repeat(40_000))));
  }

  @Test
  void headersWithoutNameOrValueAreRefused() {
    Map<String, String> noValue = new HashMap<>();
    noValue.put("n", null);
    Map<String, String> noName = new HashMap<>();
    noName.put(null, "v");
    refused("headers", "a value is null", () -> MessageChecks.headers(noValue));
    refused("headers", "a name is null", () -> MessageChecks.headers(noName));
  }

  @ParameterizedTest
  @EnumSource(PayloadType.class)
  void aPayloadIsMeasuredByTheStreamsLimit(PayloadType payloadType) {
    StreamConfig config =
        StreamConfig.defaults().withPayloadType(payloadType).withMaxPayloadBytes(10);
    byte[] atLimit = "\"12345678\"".getBytes(UTF_8);
    byte[] above = "\"123456789\"".getBytes(UTF_8);
    assertThatCode(() -> MessageChecks.payload(atLimit, config)).doesNotThrowAnyException();
    refused(
        "payload",
        "11 bytes, the stream's limit is 10",
        () -> MessageChecks.payload(above, config));
  }

  @Test
  void jsonKeepsEscapesThatJsonbCannotHold() {
    for (String escaped :
        new String[] {"\"\\u0000\"", "\"\\ud83d\"", "\"\\ude00\"", "\"\\ud83dx\\ude00\""}) {
      byte[] bytes = escaped.getBytes(UTF_8);
      assertThatCode(() -> MessageChecks.payload(bytes, of(PayloadType.JSON)))
          .doesNotThrowAnyException();
      refused(
          "payload", "escape of U+0000", () -> MessageChecks.payload(bytes, of(PayloadType.JSONB)));
    }
  }

  @Test
  void jsonIsUtf8WithoutNulAndByteaIsAnything() {
    byte[] nul = {'"', 0, '"'};
    byte[] surrogate = {'"', (byte) 0xed, (byte) 0xa0, (byte) 0x80, '"'};
    for (PayloadType payloadType : new PayloadType[] {PayloadType.JSON, PayloadType.JSONB}) {
      refused("payload", "byte at 1 is U+0000", () -> MessageChecks.payload(nul, of(payloadType)));
      refused(
          "payload",
          "byte at 1 isn't UTF-8",
          () -> MessageChecks.payload(surrogate, of(payloadType)));
      assertThatCode(() -> MessageChecks.payload(EMOJI.getBytes(UTF_8), of(payloadType)))
          .doesNotThrowAnyException();
    }
    assertThatCode(() -> MessageChecks.payload(nul, of(PayloadType.BYTEA)))
        .doesNotThrowAnyException();
    assertThatCode(() -> MessageChecks.payload(surrogate, of(PayloadType.BYTEA)))
        .doesNotThrowAnyException();
  }

  @Test
  void noValueIsEverPrinted() {
    assertThatThrownBy(() -> MessageChecks.key("messageKey", "secret\0"))
        .message()
        .doesNotContain("secret");
    assertThatThrownBy(() -> MessageChecks.headers(Map.of("secret\0", "")))
        .message()
        .doesNotContain("secret");
    assertThatThrownBy(
            () -> MessageChecks.payload("secret\0".getBytes(UTF_8), of(PayloadType.JSON)))
        .message()
        .doesNotContain("secret");
  }

  private static StreamConfig of(PayloadType payloadType) {
    return StreamConfig.defaults().withPayloadType(payloadType);
  }

  private static void refused(String field, String says, ThrowingCallable call) {
    assertThatThrownBy(call)
        .hasMessageContaining(says)
        .asInstanceOf(type(InvalidInputException.class))
        .satisfies(
            e -> {
              assertThat(e.field()).isEqualTo(field);
              assertThat(e.code()).isEqualTo(ErrorCode.INVALID_INPUT);
              assertThat(e.getMessage()).startsWith(field + ": ");
            });
  }

  @Test
  void aPlaceInAnOrderNeedsAKey() {
    for (Concurrency wish : List.of(Concurrency.ORDERED, Concurrency.EXCLUSIVE)) {
      ProduceOptions options = ProduceOptions.defaults().withConcurrency(wish);
      assertThatThrownBy(() -> MessageChecks.concurrency(options))
          .isInstanceOfSatisfying(
              InvalidInputException.class, e -> assertThat(e.field()).isEqualTo("messageKey"));
      MessageChecks.concurrency(options.withKey(""));
    }
    MessageChecks.concurrency(ProduceOptions.defaults().withConcurrency(Concurrency.PARALLEL));
  }

  @Test
  void anOrderedMessageIsNotCompacted() {
    ProduceOptions options = ProduceOptions.key("k").withCompaction();
    assertThatThrownBy(() -> MessageChecks.compaction(options.withConcurrency(Concurrency.ORDERED)))
        .isInstanceOfSatisfying(
            InvalidInputException.class, e -> assertThat(e.field()).isEqualTo("concurrency"));
    MessageChecks.compaction(options.withConcurrency(Concurrency.EXCLUSIVE));
  }
}
