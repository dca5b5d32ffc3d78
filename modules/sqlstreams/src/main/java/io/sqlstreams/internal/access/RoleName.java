package io.sqlstreams.internal.access;

import io.sqlstreams.error.InvalidInputException;
import java.nio.charset.StandardCharsets;

/** The name of a database role, which goes into the text of statements. */
record RoleName(String name) {
  /** PostgreSQL cuts longer ones. */
  private static final int MAX_BYTES = 63;

  /**
   * @throws InvalidInputException when it can't be the name of a role of one's own, or isn't safe
   *     to print
   */
  RoleName {
    if (name.isEmpty() || name.getBytes(StandardCharsets.UTF_8).length > MAX_BYTES) {
      throw new InvalidInputException("role", "must be 1 to " + MAX_BYTES + " bytes of UTF-8");
    }
    if (name.codePoints().anyMatch(RoleName::isUnsafe)) {
      throw new InvalidInputException(
          "role", "must have no quote, backslash, control character or lone surrogate");
    }
    if (name.equals("public") || name.equals("none") || name.startsWith("pg_")) {
      throw new InvalidInputException(
          "role", "\"" + name + "\" is a name of PostgreSQL's own: use a role of yours");
    }
  }

  private static boolean isUnsafe(int c) {
    int type = Character.getType(c);
    return c == '"'
        || c == '\''
        || c == '\\'
        || type == Character.CONTROL
        || type == Character.FORMAT
        || type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR
        || type == Character.SURROGATE;
  }

  /** As it stands in a statement. */
  String quoted() {
    return quote(name);
  }

  static String quote(String identifier) {
    return '"' + identifier.replace("\"", "\"\"") + '"';
  }
}
