package io.sqlstreams.config;

import io.sqlstreams.config.CronFields.CronDays;
import io.sqlstreams.error.InvalidInputException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads cron expressions. What it refuses, it names by field and place. */
final class CronParser {
  private static final String HELP =
      "give five fields: minute, hour, day of the month, month, day of the week; or six, with the second first";

  private static final Map<String, String> MACROS =
      Map.of(
          "@hourly", "0 0 * * * *",
          "@daily", "0 0 0 * * *",
          "@midnight", "0 0 0 * * *",
          "@weekly", "0 0 0 * * 0",
          "@monthly", "0 0 0 1 * *",
          "@yearly", "0 0 0 1 1 *",
          "@annually", "0 0 0 1 1 *");

  private static final int LONGEST = 1_000;
  private static final Pattern WORD = Pattern.compile("\\S+");
  private static final Pattern LAST = Pattern.compile("L(?:-(\\d{1,2}))?");
  private static final Pattern NEXT_WEEKDAY = Pattern.compile("(\\d{1,2})W");
  private static final Pattern LAST_OF_WEEK = Pattern.compile("(\\d|[A-Z]{3})L");
  private static final Pattern NTH_OF_WEEK = Pattern.compile("(\\d|[A-Z]{3})#(\\d)");

  private final String expression;

  private CronParser(String expression) {
    this.expression = expression;
  }

  /** A field's name, range and the names of its values, from the first on. */
  private enum Unit {
    SECOND("second", 0, 59),
    MINUTE("minute", 0, 59),
    HOUR("hour", 0, 23),
    DAY("day of the month", 1, 31),
    MONTH(
        "month", 1, 12, "JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV",
        "DEC"),
    WEEKDAY("day of the week", 0, 7, "SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT");

    private final String told;
    private final int least;
    private final int most;
    private final List<String> names;

    Unit(String told, int least, int most, String... names) {
      this.told = told;
      this.least = least;
      this.most = most;
      this.names = List.of(names);
    }
  }

  /**
   * One of the comma-separated parts of a field.
   *
   * @param place where it begins in the expression, from 0 on
   */
  private record Part(Unit unit, String text, int place) {}

  /**
   * The times of this expression.
   *
   * @throws InvalidInputException when it is malformed or names no time at all
   */
  static CronFields parse(String expression) {
    return new CronParser(expression).parse();
  }

  private CronFields parse() {
    if (expression.length() > LONGEST) {
      throw new InvalidInputException(
          "expression",
          "it is " + expression.length() + " characters long, the limit is " + LONGEST);
    }
    String stripped = expression.strip();
    if (stripped.startsWith("@")) {
      String fields = MACROS.get(stripped.toLowerCase(Locale.ROOT));
      if (fields == null) {
        throw new InvalidInputException(
            "expression",
            quoted(expression)
                + " isn't one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually");
      }
      return parse(fields);
    }
    CronFields fields = fields();
    if (!fields.isPossible()) {
      throw new InvalidInputException(
          "expression",
          quoted(expression)
              + " never runs: no date meets its day of the month, month and day of the week together");
    }
    return fields;
  }

  private CronFields fields() {
    List<Part> words = new ArrayList<>();
    Matcher word = WORD.matcher(expression);
    while (word.find()) {
      words.add(new Part(Unit.SECOND, word.group(), word.start()));
    }
    if (words.size() != 5 && words.size() != 6) {
      throw new InvalidInputException(
          "expression", quoted(expression) + " has " + words.size() + " fields: " + HELP);
    }
    if (words.size() == 5) {
      words.add(0, new Part(Unit.SECOND, "0", 0));
    }
    List<List<Part>> fields = new ArrayList<>();
    for (Unit unit : Unit.values()) {
      fields.add(split(unit, words.get(unit.ordinal())));
    }
    return new CronFields(
        set(fields.get(0)),
        set(fields.get(1)),
        set(fields.get(2)),
        daysOfMonth(fields.get(3)).and(daysOfWeek(fields.get(4 + 1))),
        set(fields.get(4)),
        fields.subList(0, 3).stream()
            .flatMap(List::stream)
            .noneMatch(part -> part.text().startsWith("*")));
  }

  private static List<Part> split(Unit unit, Part word) {
    List<Part> parts = new ArrayList<>();
    int from = 0;
    String text = word.text().toUpperCase(Locale.ROOT);
    for (String part : text.split(",", -1)) {
      parts.add(new Part(unit, part, word.place() + from));
      from += part.length() + 1;
    }
    return parts;
  }

  private CronDays daysOfMonth(List<Part> parts) {
    CronDays days = month -> 0;
    for (Part part : parts) {
      days = days.or(daysOfMonth(part));
    }
    return days;
  }

  private CronDays daysOfMonth(Part part) {
    Matcher last = LAST.matcher(part.text());
    Matcher weekday = NEXT_WEEKDAY.matcher(part.text());
    if (part.text().equals("LW")) {
      return CronDays.lastWeekday();
    }
    if (last.matches()) {
      int before = last.group(1) == null ? 0 : Integer.parseInt(last.group(1));
      if (before > 30) {
        throw wrong(part, before + " is outside 0 to 30");
      }
      return CronDays.beforeLast(before);
    }
    return weekday.matches()
        ? CronDays.weekdayNextTo(value(part, weekday.group(1)))
        : CronDays.ofMonth(set(part));
  }

  private CronDays daysOfWeek(List<Part> parts) {
    CronDays days = month -> 0;
    for (Part part : parts) {
      days = days.or(daysOfWeek(part));
    }
    return days;
  }

  private CronDays daysOfWeek(Part part) {
    Matcher last = LAST_OF_WEEK.matcher(part.text());
    Matcher nth = NTH_OF_WEEK.matcher(part.text());
    if (last.matches()) {
      return CronDays.last(iso(value(part, last.group(1))));
    }
    if (nth.matches()) {
      int number = Integer.parseInt(nth.group(2));
      if (number < 1 || number > 5) {
        throw wrong(part, number + " is outside 1 to 5");
      }
      return CronDays.nth(iso(value(part, nth.group(1))), number);
    }
    long set = set(part);
    return CronDays.ofWeek((set & ~1L) | (set & 1) << 7);
  }

  /** 1 for Monday to 7 for Sunday. */
  private static int iso(int weekday) {
    return weekday == 0 ? 7 : weekday;
  }

  private long set(List<Part> parts) {
    long set = 0;
    for (Part part : parts) {
      set |= set(part);
    }
    return set;
  }

  private long set(Part part) {
    Unit unit = part.unit();
    String[] stepped = part.text().split("/", -1);
    if (stepped.length > 2) {
      throw wrong(part, "it has two steps");
    }
    String range = stepped[0];
    int first;
    int last;
    if (range.equals("*") || isAnyDay(unit, range)) {
      first = unit.least;
      last = unit == Unit.WEEKDAY ? 6 : unit.most;
    } else {
      String[] ends = range.split("-", -1);
      if (ends.length > 2) {
        throw wrong(part, "it isn't a range");
      }
      first = value(part, ends[0]);
      last = ends.length == 2 ? value(part, ends[1]) : stepped.length == 2 ? unit.most : first;
      if (ends.length == 2 && unit == Unit.WEEKDAY && first == 7) {
        first = 0; // a week that begins with Sunday
      }
      if (first > last) {
        throw wrong(part, "the range ends before it begins; give two ranges");
      }
    }
    int step = stepped.length == 2 ? step(part, stepped[1]) : 1;
    long set = 0;
    for (int value = first; value <= last; value += step) {
      set |= 1L << value;
    }
    return set;
  }

  private static boolean isAnyDay(Unit unit, String range) {
    return range.equals("?") && (unit == Unit.DAY || unit == Unit.WEEKDAY);
  }

  private int step(Part part, String text) {
    int step = text.matches("\\d{1,2}") ? Integer.parseInt(text) : -1;
    if (step < 1 || step > part.unit().most) {
      throw wrong(part, "the step must be a number from 1 to " + part.unit().most);
    }
    return step;
  }

  private int value(Part part, String text) {
    Unit unit = part.unit();
    int named = unit.names.indexOf(text);
    if (named >= 0) {
      return named + unit.least;
    }
    if (!text.matches("\\d+")) {
      throw wrong(
          part,
          (text.isEmpty() ? "a value is missing" : quoted(text) + " isn't a value")
              + (unit.names.isEmpty() ? "" : "; names are " + String.join(", ", unit.names)));
    }
    int value = text.length() > 4 ? Integer.MAX_VALUE : Integer.parseInt(text);
    if (value < unit.least || value > unit.most) {
      throw wrong(part, cut(text) + " is outside " + unit.least + " to " + unit.most);
    }
    return value;
  }

  private InvalidInputException wrong(Part part, String problem) {
    return new InvalidInputException(
        "expression",
        quoted(expression)
            + ": the "
            + part.unit().told
            + ", "
            + quoted(part.text())
            + " at character "
            + (part.place() + 1)
            + ": "
            + problem);
  }

  /** One line, and not too long. */
  static String quoted(String text) {
    StringBuilder shown = new StringBuilder("\"");
    cut(text)
        .codePoints()
        .map(
            c ->
                Character.isISOControl(c) || Character.getType(c) == Character.SURROGATE
                    ? '\uFFFD'
                    : c)
        .forEach(shown::appendCodePoint);
    return shown.append('"').toString();
  }

  private static String cut(String text) {
    return text.length() <= 100 ? text : text.substring(0, 100) + "...";
  }
}
