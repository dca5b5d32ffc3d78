package io.sqlstreams.cli.demo;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Follows a worker's {@link Ledger}. For one thread. */
final class LedgerReader {
  private final Path path;
  private long position;

  LedgerReader(Path path) {
    this.path = path;
  }

  /** Adds what was written since the last call. A line without its end is left for the next one. */
  void readInto(Tally tally) throws IOException {
    if (!Files.exists(path)) {
      return; // the worker hasn't come up yet
    }
    byte[] news;
    try (RandomAccessFile file = new RandomAccessFile(path.toFile(), "r")) {
      file.seek(position);
      news = new byte[Math.toIntExact(file.length() - position)];
      file.readFully(news);
    }
    String text = new String(news, StandardCharsets.US_ASCII);
    int end = text.lastIndexOf('\n') + 1;
    text.substring(0, end).lines().mapToLong(Long::parseLong).forEach(tally::add);
    position += end;
  }
}
