package io.sqlstreams.cli;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.TypeConversionException;

/**
 * Durations as people write them: {@code 500ms}, {@code 30s}, {@code 5m}, {@code 12h}, {@code 7d},
 * or ISO 8601.
 */
final class DurationText {
  private static final Pattern SHORT = Pattern.compile("(\\d{1,18})(ms|s|m|h|d)");

  private DurationText() {}

  static Duration parse(String text) {
    Matcher matcher = SHORT.matcher(text);
    try {
      if (!matcher.matches()) {
        return Duration.parse(text);
      }
      long amount = Long.parseLong(matcher.group(1));
      return switch (matcher.group(2)) {
        case "ms" -> Duration.ofMillis(amount);
        case "s" -> Duration.ofSeconds(amount);
        case "m" -> Duration.ofMinutes(amount);
        case "h" -> Duration.ofHours(amount);
        default -> Duration.ofDays(amount);
      };
    } catch (DateTimeParseException | ArithmeticException e) {
      throw new TypeConversionException(
          "'" + text + "' is no duration: write it as 500ms, 30s, 5m, 12h or 7d");
    }
  }
}
