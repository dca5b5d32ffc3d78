package io.sqlstreams.internal.produce;

import io.sqlstreams.config.PayloadType;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Messages in the binary format of COPY (chapter COPY, Binary Format, of PostgreSQL's manual), in
 * chunks. What is larger than a chunk goes out by itself, uncopied. For one COPY and one thread.
 */
final class CopyEncoder {
  /** Where a chunk goes; its array is used again afterwards. */
  interface Sink {
    void write(byte[] bytes, int offset, int length) throws SQLException;
  }

  /** Above it the rate no longer rises. */
  static final int CHUNK_BYTES = 256 << 10;

  private static final byte[] HEADER = {
    'P',
    'G',
    'C',
    'O',
    'P',
    'Y',
    '\n',
    (byte) 0xff,
    '\r',
    '\n',
    0, // signature
    0,
    0,
    0,
    0, // flags
    0,
    0,
    0,
    0 // length of the extension
  };

  private static final short COLUMNS = 7;
  private static final short COMPACTED_COLUMNS = 8;
  private static final int NULL = -1;
  private static final short TRAILER = -1;

  /** The version that jsonb wants before its text. */
  private static final byte JSONB_VERSION = 1;

  private final PayloadType payloadType;
  private final boolean compacted;
  private final Sink sink;
  private final byte[] chunk;
  private int filled;

  /**
   * @param compacted whether some messages are compacted, so that each row has a rank or null
   */
  CopyEncoder(PayloadType payloadType, boolean compacted, Sink sink) throws SQLException {
    this(payloadType, compacted, sink, CHUNK_BYTES);
  }

  CopyEncoder(PayloadType payloadType, boolean compacted, Sink sink, int chunkBytes)
      throws SQLException {
    this.payloadType = payloadType;
    this.compacted = compacted;
    this.sink = sink;
    this.chunk = new byte[chunkBytes];
    putBytes(HEADER);
  }

  /** One row, in the columns' order of the COPY statement. */
  void put(long id, ReadyMessage message) throws SQLException {
    putShort(compacted ? COMPACTED_COLUMNS : COLUMNS);
    putLong(id);
    putInt(Integer.BYTES);
    putInt(message.schemaVersion());
    putText(message.routingKey());
    putText(message.messageKey());
    putPayload(message.payload());
    putDocument(message.headers());
    putDocument(message.options());
    if (compacted) {
      putRank(message.compactionRank());
    }
  }

  private void putPayload(byte @Nullable [] payload) throws SQLException {
    if (payload == null) {
      putInt(NULL);
    } else if (payloadType == PayloadType.JSONB) {
      putJsonb(payload);
    } else {
      putInt(payload.length);
      putBytes(payload);
    }
  }

  private void putRank(@Nullable Long rank) throws SQLException {
    if (rank == null) {
      putInt(NULL);
    } else {
      putLong(rank);
    }
  }

  /** The end; sends what is left. */
  void finish() throws SQLException {
    putShort(TRAILER);
    flush();
  }

  private void putText(@Nullable String text) throws SQLException {
    if (text == null) {
      putInt(NULL);
      return;
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    putInt(bytes.length);
    putBytes(bytes);
  }

  private void putDocument(@Nullable String json) throws SQLException {
    if (json == null) {
      putInt(NULL);
    } else {
      putJsonb(json.getBytes(StandardCharsets.UTF_8));
    }
  }

  private void putJsonb(byte[] json) throws SQLException {
    putInt(json.length + 1);
    makeRoom(1);
    chunk[filled++] = JSONB_VERSION;
    putBytes(json);
  }

  private void putShort(short value) throws SQLException {
    makeRoom(Short.BYTES);
    chunk[filled++] = (byte) (value >>> 8);
    chunk[filled++] = (byte) value;
  }

  /** A column's value, its length before it. */
  private void putLong(long value) throws SQLException {
    putInt(Long.BYTES);
    putInt((int) (value >>> 32));
    putInt((int) value);
  }

  private void putInt(int value) throws SQLException {
    makeRoom(Integer.BYTES);
    chunk[filled++] = (byte) (value >>> 24);
    chunk[filled++] = (byte) (value >>> 16);
    chunk[filled++] = (byte) (value >>> 8);
    chunk[filled++] = (byte) value;
  }

  private void putBytes(byte[] bytes) throws SQLException {
    makeRoom(bytes.length);
    if (bytes.length > chunk.length) {
      sink.write(bytes, 0, bytes.length);
      return;
    }
    System.arraycopy(bytes, 0, chunk, filled, bytes.length);
    filled += bytes.length;
  }

  private void makeRoom(int bytes) throws SQLException {
    if (bytes > chunk.length - filled) {
      flush();
    }
  }

  private void flush() throws SQLException {
    if (filled > 0) {
      sink.write(chunk, 0, filled);
      filled = 0;
    }
  }
}
