package io.sqlstreams.internal.produce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.sqlstreams.Outgoing;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.InvalidInputException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class MessageEncoderTest {
  private static final ProduceOptions NONE = ProduceOptions.defaults();

  private final MessageEncoder<String> encoder = new MessageEncoder<>(new TextCodec());

  private static final class TextCodec implements PayloadCodec<String> {
    @Override
    public byte[] encode(String payload) throws Exception {
      if (payload.startsWith("secret")) {
        throw new Exception(payload);
      }
      return payload.equals("nothing") ? null : payload.getBytes(UTF_8);
    }

    @Override
    public String decode(byte[] bytes) {
      return new String(bytes, UTF_8);
    }

    @Override
    public int schemaVersion() {
      return 7;
    }
  }

  @Test
  void everythingGoesIntoTheMessage() {
    ReadyMessage message =
        encoder.encode(
            "{}", ProduceOptions.key("k").withRoutingKey("r").withHeaders(Map.of("n", "v")));
    assertThat(message.schemaVersion()).isEqualTo(7);
    assertThat(message.messageKey()).isEqualTo("k");
    assertThat(message.routingKey()).isEqualTo("r");
    assertThat(message.headers()).isEqualTo("{\"n\":\"v\"}");
    assertThat(message.payload()).isEqualTo("{}".getBytes(UTF_8));
    assertThat(encoder.encode("{}", NONE).headers()).isNull();
    assertThat(encoder.encode("{}", ProduceOptions.key("")).messageKey()).isEmpty();
  }

  @Test
  void nullsAreRefusedByName() {
    assertThat(refusal(() -> encoder.encode(null, NONE)).field()).isEqualTo("payload");
    assertThat(refusal(() -> encoder.encode("{}", null)).field()).isEqualTo("options");
    assertThat(refusal(() -> encoder.encodeAll(null)).field()).isEqualTo("messages");
    List<Outgoing<String>> messages = Arrays.asList(Outgoing.of("{}"), null);
    assertThat(refusal(() -> encoder.encodeAll(messages)).field()).isEqualTo("messages[1]");
    assertThat(refusal(() -> encoder.encode("nothing", NONE)).field()).isEqualTo("payload");
  }

  @Test
  void theCodecsFaultIsTheCauseAndThePayloadIsNotPrinted() {
    InvalidInputException e = refusal(() -> encoder.encode("secret-1", NONE));
    assertThat(e.field()).isEqualTo("payload");
    assertThat(e).hasMessageNotContaining("secret").cause().hasMessage("secret-1");
  }

  @Test
  void compactionNeedsAKeyAndOnlyATombstoneHasNoPayload() {
    assertThat(refusal(() -> encoder.encode("{}", NONE.withCompaction())).field())
        .isEqualTo("messageKey");
    assertThat(refusal(() -> encoder.encodeTombstone(NONE)).field()).isEqualTo("messageKey");
    assertThat(refusal(() -> encoder.encodeTombstone(null)).field()).isEqualTo("options");
    assertThat(
            refusal(() -> encoder.encode(null, ProduceOptions.key("k").withCompaction())).field())
        .as("a key is never deleted by mistake")
        .isEqualTo("payload");
    assertThat(encoder.encode("{}", ProduceOptions.key("k")).compactionRank()).isNull();
    assertThat(encoder.encode("{}", ProduceOptions.key("k").withCompaction(7)).compactionRank())
        .isEqualTo(7);
    ReadyMessage tombstone = encoder.encodeTombstone(ProduceOptions.key(""));
    assertThat(tombstone.payload()).isNull();
    assertThat(tombstone.compactionRank()).isZero();
    assertThat(tombstone.size()).isPositive();
    MessageEncoder.checkAll(List.of(tombstone), StreamConfig.defaults());
    assertThat(
            encoder
                .encodeAll(List.of(Outgoing.tombstone(ProduceOptions.key("k").withCompaction(-1))))
                .get(0)
                .compactionRank())
        .isEqualTo(-1);
  }

  @Test
  void aListSaysWhichMessageIsRefused() {
    List<Outgoing<String>> messages =
        List.of(Outgoing.of("{}"), Outgoing.of("{}"), Outgoing.of("{}", ProduceOptions.key("\0")));
    InvalidInputException e = refusal(() -> encoder.encodeAll(messages));
    assertThat(e.field()).isEqualTo("messageKey");
    assertThat(e).hasMessageContaining("(messages[2])");
    List<ReadyMessage> ready = encoder.encodeAll(List.of(Outgoing.of("{}"), Outgoing.of("{  }")));
    InvalidInputException tooLarge =
        refusal(
            () -> MessageEncoder.checkAll(ready, StreamConfig.defaults().withMaxPayloadBytes(3)));
    assertThat(tooLarge.field()).isEqualTo("payload");
    assertThat(tooLarge).hasMessageContaining("(messages[1])");
  }

  private static InvalidInputException refusal(ThrowingCallable call) {
    return assertThatThrownBy(call).asInstanceOf(type(InvalidInputException.class)).actual();
  }
}
