package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Nothing outlives a transaction in a session of the server: a pooler may give that session to
 * anybody next.
 */
class SessionStateTest {
  /** Settings of the session, and its locks; {@code SET} in an UPDATE is followed by a column. */
  private static final Pattern SESSION_STATE =
      Pattern.compile(
          "pg_(?:try_)?advisory_lock|set_config\\((?!.*, true\\))|setTransactionIsolation\\(|\\bSET\\s+"
              + "(?:SESSION|TIME ZONE|search_path|\\w+_timeout|enable_\\w+|plan_cache_mode|synchronous_commit|default_\\w+)\\b",
          Pattern.CASE_INSENSITIVE);

  @Test
  void b54_noStatementLeavesAnythingInASession() throws IOException {
    try (Stream<Path> sources = Files.walk(Path.of("src", "main", "java"))) {
      List<Path> files = sources.filter(file -> file.toString().endsWith(".java")).toList();
      assertThat(files).hasSizeGreaterThan(100);
      assertThat(files)
          .allSatisfy(file -> assertThat(text(file)).doesNotContainPattern(SESSION_STATE));
    }
  }

  private static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
