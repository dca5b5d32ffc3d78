package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * When a schedule runs: a cron expression, and the time zone whose clocks it is about. Immutable.
 *
 * <p>An expression has five fields, separated by blanks: minute (0 to 59), hour (0 to 23), day of
 * the month (1 to 31), month (1 to 12 or JAN to DEC), day of the week (0 to 7 or SUN to SAT; 0 and
 * 7 are Sunday). A sixth field in front of them is the second (0 to 59), which is 0 otherwise. A
 * field is a list, separated by commas, of {@code *} for every value, {@code 5} for one, {@code
 * 1-5} for a range, and any of these with a step: {@code *}{@code /15}, {@code 8-18/2}, or {@code
 * 5/15} for every 15th from 5 on. In the two fields of days {@code ?} is {@code *}. A day of the
 * month can also be {@code L} for the last, {@code L-3} for the third before the last, {@code 15W}
 * for the weekday next to the 15th within the month, {@code LW} for the last weekday; a day of the
 * week {@code FRIL} for the month's last Friday, or {@code MON#2} for its second Monday. Day of the
 * month and day of the week must both match, as in Spring, and unlike in UNIX, where either
 * suffices. In place of the fields: {@code @hourly}, {@code @daily} or {@code @midnight},
 * {@code @weekly}, {@code @monthly}, {@code @yearly} or {@code @annually}.
 *
 * <p>When clocks are put forward or back by up to 3 hours, it goes as in Vixie's cron. An
 * expression with a {@code *} in its second, minute or hour, such as {@code 30 * * * *} or {@code
 * *}{@code /10 2 * * *}, runs whenever the clock shows one of its times: again in the hour that
 * comes twice, and not in the hour that is left out. Any other, such as {@code 5 2 * * *}, names
 * times of the day, and each is kept once: in the hour that comes twice the first time, and when it
 * is left out, at the moment to which the clocks are put forward (for several such times, one run).
 */
public final class Cron {
  /** The zone of an expression without one. */
  public static final ZoneId DEFAULT_ZONE = ZoneId.of("UTC");

  /** A greater change of the clocks isn't one of summer time: it corrects the zone. */
  private static final Duration LONGEST_CHANGE = Duration.ofHours(3);

  /**
   * The longest wait is that for a 29th of February on a given day of the week around a year that
   * has none: 40 years.
   */
  private static final long LONGEST_WAIT_DAYS = 42 * 366L;

  private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
  private static final Instant LATEST = Instant.parse("9900-01-01T00:00:00Z");

  private final String expression;
  private final ZoneId zone;
  private final CronFields fields;

  private Cron(String expression, ZoneId zone, CronFields fields) {
    this.expression = expression;
    this.zone = zone;
    this.fields = fields;
  }

  /**
   * An expression in this zone.
   *
   * @throws InvalidInputException when the expression is malformed, with the field and the place of
   *     what is wrong; when no date ever meets it, such as the 30th of February; or when something
   *     is null
   */
  public static Cron of(String expression, ZoneId zone) {
    if (zone == null) {
      throw new InvalidInputException(
          "timeZone", "it is null: name one, such as Europe/Oslo, or leave it out for UTC");
    }
    if (expression == null) {
      throw new InvalidInputException("expression", "it is null: give one, such as 0 2 * * *");
    }
    CronFields fields = CronParser.parse(expression);
    String told = String.join(" ", expression.strip().split("\\s+"));
    return new Cron(told, zone, fields);
  }

  /**
   * An expression in the zone of this name, such as {@code Europe/Oslo} or {@code +02:00}.
   *
   * @throws InvalidInputException as in {@link #of(String, ZoneId)}, or when Java knows no zone of
   *     this name
   */
  public static Cron of(String expression, String zone) {
    if (zone == null) {
      throw new InvalidInputException(
          "timeZone", "it is null: name one, such as Europe/Oslo, or leave it out for UTC");
    }
    try {
      return of(expression, ZoneId.of(zone));
    } catch (DateTimeException e) {
      throw new InvalidInputException(
          "timeZone",
          CronParser.quoted(zone)
              + " is no time zone that Java knows: use a name such as Europe/Oslo or UTC, or an offset such as +02:00",
          e);
    }
  }

  /**
   * An expression in UTC; see {@link #of(String, ZoneId)}. Neither the zone of the JVM nor that of
   * the database counts.
   */
  public static Cron of(String expression) {
    return of(expression, DEFAULT_ZONE);
  }

  /** The expression, its fields separated by single blanks. */
  public String expression() {
    return expression;
  }

  /** The zone whose clocks it is about. */
  public ZoneId zone() {
    return zone;
  }

  /**
   * The first moment after this one at which it runs: always later, on a whole second.
   *
   * @param after from the year 1 to 9900
   * @throws InvalidInputException when the moment is outside these years
   */
  public Instant next(Instant after) {
    if (after.isBefore(EARLIEST) || after.isAfter(LATEST)) {
      throw new InvalidInputException("after", "must be from the year 1 to 9900, not " + after);
    }
    ZoneRules rules = zone.getRules();
    Instant at = after.truncatedTo(ChronoUnit.SECONDS);
    Instant limit = at.plus(LONGEST_WAIT_DAYS, ChronoUnit.DAYS);
    LocalDateTime start = local(at, rules.getOffset(at)).plusSeconds(1);
    // one round for each stretch of time in which the zone's offset doesn't change
    while (at.isBefore(limit)) {
      ZoneOffset offset = rules.getOffset(at);
      ZoneOffsetTransition end = rules.nextTransition(at);
      LocalDateTime last = end == null ? local(limit, offset) : end.getDateTimeBefore();
      LocalDateTime found = fields.next(behindRepeated(rules, at, start), last);
      if (found != null) {
        return found.toInstant(offset);
      }
      if (end == null) {
        break;
      }
      if (isLeftOut(end)) {
        return end.getInstant();
      }
      at = end.getInstant();
      start = end.getDateTimeAfter();
    }
    throw new IllegalStateException("\"" + this + "\" has no time after " + after);
  }

  /**
   * The first so many moments after this one at which it runs.
   *
   * @param after from the year 1 to 9900
   * @param count 0 or above
   * @throws InvalidInputException when one of the two is outside its range
   */
  public List<Instant> next(Instant after, int count) {
    Numbers.requireNotNegative("count", count);
    List<Instant> times = new ArrayList<>();
    Instant time = after;
    while (times.size() < count) {
      time = next(time);
      times.add(time);
    }
    return List.copyOf(times);
  }

  /** Where the times begin that the clocks haven't shown already before they were put back. */
  private LocalDateTime behindRepeated(ZoneRules rules, Instant at, LocalDateTime start) {
    if (!fields.namesTimesOfDay()) {
      return start;
    }
    @Nullable ZoneOffsetTransition before = rules.previousTransition(at.plusNanos(1));
    return before != null
            && before.isOverlap()
            && isShort(before)
            && start.isBefore(before.getDateTimeBefore())
        ? before.getDateTimeBefore()
        : start;
  }

  /** Whether one of the times is in what this transition leaves out, and is kept behind it. */
  private boolean isLeftOut(ZoneOffsetTransition transition) {
    return fields.namesTimesOfDay()
        && transition.isGap()
        && isShort(transition)
        && fields.next(transition.getDateTimeBefore(), transition.getDateTimeAfter()) != null;
  }

  private static boolean isShort(ZoneOffsetTransition transition) {
    return transition.getDuration().abs().compareTo(LONGEST_CHANGE) <= 0;
  }

  private static LocalDateTime local(Instant at, ZoneOffset offset) {
    return LocalDateTime.ofEpochSecond(at.getEpochSecond(), 0, offset);
  }

  /** Whether the other has the same expression, letter by letter, and the same zone. */
  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Cron that
        && expression.equals(that.expression)
        && zone.equals(that.zone);
  }

  @Override
  public int hashCode() {
    return Objects.hash(expression, zone);
  }

  /** The expression and the zone, as in {@code 0 2 * * * Europe/Oslo}. */
  @Override
  public String toString() {
    return expression + " " + zone;
  }
}
