package io.sqlstreams.internal.codec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.error.InvalidInputException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class GuardedCodecTest {
  /** One buffer for everything, and bytes that are turned over where they lie. */
  private static final class Careless implements PayloadCodec<Integer> {
    private final byte[] buffer = new byte[1];

    @Override
    public byte[] encode(Integer payload) {
      buffer[0] = payload.byteValue();
      return buffer;
    }

    @Override
    public Integer decode(byte[] bytes) {
      int payload = bytes[0];
      bytes[0] = -1;
      return payload;
    }
  }

  /** Writes and reads nothing. */
  private static final class Silent implements PayloadCodec<String> {
    private final AtomicInteger version = new AtomicInteger(7);

    @Override
    public byte[] encode(String payload) {
      return null;
    }

    @Override
    public String decode(byte[] bytes) {
      return null;
    }

    @Override
    public int schemaVersion() {
      return version.getAndDecrement();
    }
  }

  @Test
  void aCodecMayUseItsBufferAgain() throws Exception {
    PayloadCodec<Integer> codec = Codecs.guarded(new Careless());
    byte[] one = codec.encode(1);
    codec.encode(2);
    assertThat(one).containsExactly(1);
  }

  @Test
  void aCodecMayChangeWhatItReads() throws Exception {
    PayloadCodec<Integer> codec = Codecs.guarded(new Careless());
    byte[] bytes = {5};
    assertThat(codec.decode(bytes)).isEqualTo(5);
    assertThat(codec.decode(bytes)).isEqualTo(5);
  }

  @Test
  void readingNullIsAnException() {
    PayloadCodec<String> codec = Codecs.guarded(new Silent());
    assertThatThrownBy(() -> codec.decode(new byte[0])).hasMessageContaining("read null");
  }

  @Test
  void theVersionIsReadOnceAndChecked() {
    Silent silent = new Silent();
    PayloadCodec<String> codec = Codecs.guarded(silent);
    assertThat(codec.schemaVersion()).isEqualTo(7);
    assertThat(codec.schemaVersion()).isEqualTo(7);
    silent.version.set(0);
    assertThatThrownBy(() -> Codecs.guarded(silent))
        .isInstanceOf(InvalidInputException.class)
        .hasMessage("schemaVersion: must be 1 or above, not 0");
  }

  @Test
  void nullIsNamed() {
    assertThatThrownBy(() -> Codecs.guarded(null))
        .asInstanceOf(type(InvalidInputException.class))
        .extracting(InvalidInputException::field)
        .isEqualTo("codec");
    assertThatThrownBy(() -> Codecs.forType(null))
        .asInstanceOf(type(InvalidInputException.class))
        .extracting(InvalidInputException::field)
        .isEqualTo("type");
  }

  @Test
  void rawPayloadsAreImmutableAndNotCopied() {
    assertThat(Codecs.guarded(RawPayload.codec())).isSameAs(RawPayload.codec());
  }
}
