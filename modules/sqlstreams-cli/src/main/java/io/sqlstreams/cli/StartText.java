package io.sqlstreams.cli;

import io.sqlstreams.config.Start;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import picocli.CommandLine.TypeConversionException;

/** A place in a stream, as it is written on the command line. */
final class StartText {
  private static final String AFTER = "after:";
  private static final String AT = "at:";

  private StartText() {}

  /** {@code beginning}, {@code head}, {@code after:ID} or {@code at:INSTANT}. */
  static Start parse(String text) {
    try {
      if (text.startsWith(AFTER)) {
        return Start.after(Long.parseLong(text.substring(AFTER.length())));
      }
      if (text.startsWith(AT)) {
        return Start.at(Instant.parse(text.substring(AT.length())));
      }
      return Start.Edge.valueOf(text.toUpperCase(java.util.Locale.ROOT));
    } catch (DateTimeParseException | IllegalArgumentException e) {
      throw new TypeConversionException(
          "'"
              + text
              + "' is no place in a stream: give beginning, head, after:1234 or at:2030-01-31T08:00:00Z");
    }
  }
}
