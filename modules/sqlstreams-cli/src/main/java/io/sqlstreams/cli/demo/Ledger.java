package io.sqlstreams.cli.demo;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * What a worker has handled: one id a line. Each id is one {@code write} to the operating system,
 * which keeps it when the process is killed. Thread-safe.
 */
final class Ledger implements AutoCloseable {
  private final FileChannel file;

  private Ledger(FileChannel file) {
    this.file = file;
  }

  static Ledger create(Path path) throws IOException {
    return new Ledger(
        FileChannel.open(
            path,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.APPEND,
            StandardOpenOption.WRITE));
  }

  /** Writes an id down; it is there when this returns. */
  synchronized void add(long id) throws IOException {
    ByteBuffer line = ByteBuffer.wrap((id + "\n").getBytes(StandardCharsets.US_ASCII));
    while (line.hasRemaining()) {
      file.write(line);
    }
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
