package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.BenchException;
import io.sqlstreams.bench.load.Quota;
import io.sqlstreams.config.PayloadType;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Writes rows by COPY in its binary format (PostgreSQL's manual, COPY, Binary Format), each batch a
 * transaction.
 */
final class RawWriter implements Callable<Void> {
  private static final byte[] HEADER =
      "PGCOPY\n\377\r\n\0\0\0\0\0\0\0\0\0".getBytes(StandardCharsets.ISO_8859_1);

  private static final short COLUMNS = 6;
  private static final short TRAILER = -1;
  private static final int NULL = -1;
  private static final byte JSONB_VERSION = 1;

  /** Above it the rate no longer rises. */
  private static final int CHUNK = 256 << 10;

  /** What a row needs beside its payload, and more. */
  private static final int ROW_OVERHEAD = 64;

  private static final int DIGITS = 3;

  private final Connection connection;
  private final String copy;
  private final boolean jsonb;
  private final List<byte[]> payloads;
  private final Quota quota;
  private final Written written;
  private final ByteBuffer chunk;
  private final Histogram callMicros = new Histogram(DIGITS);
  private long lastId;

  RawWriter(
      Connection connection,
      String table,
      PayloadType payloadType,
      List<byte[]> payloads,
      Quota quota,
      Written written) {
    this.connection = connection;
    this.copy =
        "COPY %s (id, schema_version, routing_key, message_key, payload, headers) FROM STDIN (FORMAT BINARY)"
            .formatted(table);
    this.jsonb = payloadType == PayloadType.JSONB;
    this.payloads = payloads;
    this.quota = quota;
    this.written = written;
    this.chunk = ByteBuffer.allocate(Math.max(CHUNK, payloads.get(0).length + ROW_OVERHEAD));
  }

  @Override
  public Void call() throws SQLException {
    try {
      PGConnection driver = connection.unwrap(PGConnection.class);
      for (int size = quota.take(Producing.BATCH); size > 0; size = quota.take(Producing.BATCH)) {
        long begin = System.nanoTime();
        write(driver.getCopyAPI().copyIn(copy), size);
        callMicros.recordValue(TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begin));
        written.upTo(lastId);
      }
      return null;
    } finally {
      written.end();
    }
  }

  /** How long each COPY took. */
  Histogram callMicros() {
    return callMicros;
  }

  private void write(CopyIn target, int rows) throws SQLException {
    chunk.clear().put(HEADER);
    for (int i = 0; i < rows; i++) {
      byte[] payload = payloads.get((int) (lastId % payloads.size()));
      if (chunk.remaining() < payload.length + ROW_OVERHEAD) {
        flush(target);
      }
      put(++lastId, payload);
    }
    if (chunk.remaining() < Short.BYTES) {
      flush(target);
    }
    chunk.putShort(TRAILER);
    flush(target);
    if (target.endCopy() != rows) {
      throw new BenchException("COPY wrote another number of rows than " + rows);
    }
  }

  private void put(long id, byte[] payload) {
    chunk.putShort(COLUMNS).putInt(Long.BYTES).putLong(id).putInt(Integer.BYTES).putInt(1);
    chunk.putInt(NULL).putInt(NULL);
    if (jsonb) {
      chunk.putInt(payload.length + 1).put(JSONB_VERSION).put(payload);
    } else {
      chunk.putInt(payload.length).put(payload);
    }
    chunk.putInt(NULL);
  }

  private void flush(CopyIn target) throws SQLException {
    target.writeToCopy(chunk.array(), 0, chunk.position());
    chunk.clear();
  }
}
