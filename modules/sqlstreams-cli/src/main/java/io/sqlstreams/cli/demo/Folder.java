package io.sqlstreams.cli.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A folder of the demo's own among the temporary files. Closing it deletes it. */
record Folder(Path path) implements AutoCloseable {
  static Folder create() throws IOException {
    return new Folder(Files.createTempDirectory("sqlstreams-demo-"));
  }

  @Override
  public void close() throws IOException {
    delete(path);
  }

  static void delete(Path path) throws IOException {
    if (!Files.exists(path)) {
      return;
    }
    try (Stream<Path> files = Files.walk(path)) {
      files.sorted(Comparator.reverseOrder()).forEach(Folder::deleteOne);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static void deleteOne(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
