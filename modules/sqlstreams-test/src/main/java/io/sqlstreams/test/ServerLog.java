package io.sqlstreams.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The log of the embedded server: what it reports of all tests of this JVM. Immutable, and safe for
 * use by several threads; each call reads the file anew.
 */
public final class ServerLog {

  /** The SQLSTATE of a transaction that PostgreSQL ended to break a deadlock. */
  public static final String DEADLOCK_DETECTED = "40P01";

  /** Time, process, SQLSTATE, application: {@link #LINE} reads it. */
  static final String LINE_PREFIX = "%m [%p] %e %a ";

  private static final Pattern LINE =
      Pattern.compile(
          "\\S+ \\S+ \\S+ \\[(?<process>\\d+)] (?<state>\\w{5}) .*?(?<kind>[A-Z]+): .*");

  /** The lines that add to a report instead of starting one. */
  private static final Pattern MORE = Pattern.compile("DETAIL|HINT|CONTEXT|STATEMENT|QUERY");

  private final Path file;

  ServerLog(Path file) {
    this.file = file;
  }

  /**
   * Where the log is. It is deleted when the JVM ends, unless the system property {@value
   * PostgresExtension#KEEP_PROPERTY} is {@code true}.
   *
   * @return a file that the server is still writing to
   */
  public Path file() {
    return file;
  }

  /**
   * The errors, warnings and messages with the given SQLSTATE, in the order of their first lines.
   *
   * @param sqlState five characters, as {@link #DEADLOCK_DETECTED}
   * @return one text for each: its line, then its details, context and statement
   * @throws UncheckedIOException if the file can't be read
   */
  public List<String> reports(String sqlState) {
    List<StringBuilder> reports = new ArrayList<>();
    Map<String, StringBuilder> openByProcess = new LinkedHashMap<>();
    StringBuilder current = new StringBuilder(); // of no report, until one starts
    for (String line : lines()) {
      Matcher matcher = LINE.matcher(line);
      if (matcher.matches()) {
        current = new StringBuilder();
        if (matcher.group("state").equals(sqlState)) {
          String process = matcher.group("process");
          if (MORE.matcher(matcher.group("kind")).matches() && openByProcess.containsKey(process)) {
            current = openByProcess.get(process);
          } else {
            openByProcess.put(process, current);
            reports.add(current);
          }
        }
      }
      current.append(line).append('\n');
    }
    return reports.stream().map(StringBuilder::toString).toList();
  }

  private List<String> lines() {
    try {
      // not readAllLines: a statement may hold bytes that aren't UTF-8
      return new String(Files.readAllBytes(file), StandardCharsets.UTF_8).lines().toList();
    } catch (IOException e) {
      throw new UncheckedIOException("The server's log can't be read: " + file, e);
    }
  }
}
