package io.sqlstreams.lab;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;

/**
 * What a worker did, line by line in a file. A line is there once {@link #append} returns, even if
 * the process is killed right after. Several processes must not share one.
 */
public final class Ledger {
  private final Path file;

  public Ledger(Path file) {
    this.file = file;
  }

  /**
   * One handled message.
   *
   * @param id the message id
   * @param attempt the attempt's number
   * @param begun when the handler began, by {@link System#nanoTime}, which processes of one machine
   *     share on Linux
   * @param ended when it ended; {@link #RUNNING} when it hadn't
   */
  public record Entry(long id, int attempt, long begun, long ended) {
    /** For {@code ended}. */
    public static final long RUNNING = Long.MAX_VALUE;

    static Entry parse(String line) {
      String[] fields = line.split(" ", -1);
      return new Entry(
          Long.parseLong(fields[0]),
          Integer.parseInt(fields[1]),
          Long.parseLong(fields[2]),
          Long.parseLong(fields[3]));
    }

    String line() {
      return id + " " + attempt + " " + begun + " " + ended + "\n";
    }
  }

  /** Adds an entry. */
  public synchronized void append(Entry entry) {
    try {
      Files.writeString(
          file,
          entry.line(),
          StandardCharsets.US_ASCII,
          StandardOpenOption.CREATE,
          StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Every entry so far; a line that is being written isn't one yet. */
  public List<Entry> entries() {
    try {
      if (!Files.exists(file)) {
        return List.of();
      }
      String text = Files.readString(file, StandardCharsets.US_ASCII);
      return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(Entry::parse).toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
