package io.sqlstreams.internal.catalog;

import io.sqlstreams.error.InvalidInputException;
import java.util.regex.Pattern;

/**
 * The names of installations, streams, groups and schedules. They are case-sensitive and never part
 * of a table's name, so their length doesn't matter to PostgreSQL; the rule keeps them readable in
 * logs, metrics and addresses.
 */
public final class Names {
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,199}");

  private Names() {}

  /** Whether something can have this name. */
  public static boolean isValid(String name) {
    return NAME.matcher(name).matches();
  }

  /**
   * @throws InvalidInputException when nothing can have this name
   */
  public static String require(String name) {
    if (!isValid(name)) {
      throw new InvalidInputException(
          "name",
          quoted(name)
              + " must be 1 to 200 of the letters A-Z and a-z, digits, '.', '_' and '-', a letter or digit first");
    }
    return name;
  }

  /** One line, and not longer than a name can be. */
  private static String quoted(String name) {
    StringBuilder shown = new StringBuilder("\"");
    name.codePoints()
        .limit(200)
        .map(c -> Character.isISOControl(c) || isLoneSurrogate(c) ? '\uFFFD' : c)
        .forEach(shown::appendCodePoint);
    return shown.append('"').toString();
  }

  private static boolean isLoneSurrogate(int codePoint) {
    return codePoint >= Character.MIN_SURROGATE && codePoint <= Character.MAX_SURROGATE;
  }
}
