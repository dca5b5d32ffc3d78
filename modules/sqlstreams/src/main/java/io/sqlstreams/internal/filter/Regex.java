package io.sqlstreams.internal.filter;

/** A pattern as the regular expression that it means, for people and tools that read the tables. */
public final class Regex {
  private Regex() {}

  /**
   * The anchored regular expression of PostgreSQL for this pattern: {@code *} is any run of
   * characters, every other character itself.
   */
  public static String of(String pattern) {
    StringBuilder regex = new StringBuilder("^");
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      if (c == '*') {
        regex.append(".*");
      } else {
        if (c < 0x80 && !isLetterOrDigit(c)) {
          regex.append('\\');
        }
        regex.append(c);
      }
    }
    return regex.append('$').toString();
  }

  /** With a backslash in front these would mean something else. */
  private static boolean isLetterOrDigit(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
}
