package io.sqlstreams.internal.produce;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.PayloadType;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class CopyEncoderTest {
  private static final ReadyMessage FULL =
      new ReadyMessage(
          3, "r\u00e9", "k", "{\"a\":1}".getBytes(UTF_8), "{\"n\":\"v\"}", "{}", null, null);
  private static final ReadyMessage BARE =
      new ReadyMessage(1, null, "", new byte[0], null, null, null, null);

  @Test
  void rowsAreAsTheManualSays() throws Exception {
    assertThat(encode(PayloadType.JSON, 1 << 10)).isEqualTo(expected(false));
    assertThat(encode(PayloadType.BYTEA, 1 << 10)).isEqualTo(expected(false));
    assertThat(encode(PayloadType.JSONB, 1 << 10)).isEqualTo(expected(true));
  }

  @Test
  void theBytesAreTheSameWhateverTheChunks() throws Exception {
    for (int chunk = 8; chunk < 200; chunk++) {
      assertThat(encode(PayloadType.JSONB, chunk))
          .as("chunks of %d", chunk)
          .isEqualTo(expected(true));
    }
  }

  @Test
  void noChunkIsLargerThanItsLimitButForValuesThatAre() throws Exception {
    List<Integer> lengths = new ArrayList<>();
    CopyEncoder encoder =
        new CopyEncoder(
            PayloadType.BYTEA, false, (bytes, offset, length) -> lengths.add(length), 100);
    encoder.put(1, new ReadyMessage(1, null, null, new byte[100], null, null, null, null));
    encoder.put(2, new ReadyMessage(1, null, null, new byte[101], null, null, null, null));
    encoder.finish();
    assertThat(lengths).filteredOn(length -> length > 100).containsExactly(101);
    assertThat(lengths.stream().mapToInt(Integer::intValue).sum())
        .isEqualTo(19 + 2 * (2 + 12 + 8 + 4 + 4 + 4 + 4 + 4) + 201 + 2);
  }

  @Test
  void amongCompactedMessagesEachHasARankOrNullAndATombstoneHasNoPayload() throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CopyEncoder encoder = new CopyEncoder(PayloadType.JSONB, true, out::write, 64);
    encoder.put(7, new ReadyMessage(1, null, "k", null, null, null, null, -2L));
    encoder.put(8, new ReadyMessage(1, null, null, new byte[] {'1'}, null, null, null, null));
    encoder.finish();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream expected = new DataOutputStream(bytes);
    expected.write(new byte[] {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0});
    expected.writeLong(0);
    expected.writeShort(8);
    expected.writeInt(8);
    expected.writeLong(7);
    expected.writeInt(4);
    expected.writeInt(1);
    field(expected, false, null);
    field(expected, false, "k".getBytes(UTF_8));
    field(expected, true, null);
    field(expected, true, null);
    field(expected, true, null);
    expected.writeInt(8);
    expected.writeLong(-2);
    expected.writeShort(8);
    expected.writeInt(8);
    expected.writeLong(8);
    expected.writeInt(4);
    expected.writeInt(1);
    field(expected, false, null);
    field(expected, false, null);
    field(expected, true, new byte[] {'1'});
    field(expected, true, null);
    field(expected, true, null);
    field(expected, true, null);
    expected.writeShort(-1);
    assertThat(out.toByteArray()).isEqualTo(bytes.toByteArray());
  }

  private static byte[] encode(PayloadType payloadType, int chunk) throws SQLException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    CopyEncoder encoder = new CopyEncoder(payloadType, false, out::write, chunk);
    encoder.put(0x0102030405060708L, FULL);
    encoder.put(9, BARE);
    encoder.finish();
    return out.toByteArray();
  }

  private static byte[] expected(boolean isJsonb) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    DataOutputStream out = new DataOutputStream(bytes);
    out.write(new byte[] {'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xff, '\r', '\n', 0});
    out.writeInt(0);
    out.writeInt(0);
    row(out, isJsonb, 0x0102030405060708L, FULL);
    row(out, isJsonb, 9, BARE);
    out.writeShort(-1);
    return bytes.toByteArray();
  }

  private static void row(DataOutputStream out, boolean isJsonb, long id, ReadyMessage message)
      throws IOException {
    out.writeShort(7);
    out.writeInt(8);
    out.writeLong(id);
    out.writeInt(4);
    out.writeInt(message.schemaVersion());
    field(out, false, message.routingKey() == null ? null : message.routingKey().getBytes(UTF_8));
    field(out, false, message.messageKey() == null ? null : message.messageKey().getBytes(UTF_8));
    field(out, isJsonb, message.payload());
    field(out, true, message.headers() == null ? null : message.headers().getBytes(UTF_8));
    field(out, true, message.options() == null ? null : message.options().getBytes(UTF_8));
  }

  private static void field(DataOutputStream out, boolean isJsonb, byte[] bytes)
      throws IOException {
    if (bytes == null) {
      out.writeInt(-1);
      return;
    }
    out.writeInt(bytes.length + (isJsonb ? 1 : 0));
    if (isJsonb) {
      out.writeByte(1);
    }
    out.write(bytes);
  }
}
