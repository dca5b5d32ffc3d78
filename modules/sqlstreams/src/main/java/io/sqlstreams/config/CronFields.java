package io.sqlstreams.config;

import java.time.DayOfWeek;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.YearMonth;
import org.jspecify.annotations.Nullable;

/**
 * The times that an expression names, on a clock that never changes. Sets of numbers are the bits
 * of a {@code long}. Immutable.
 *
 * @param seconds 0 to 59
 * @param minutes 0 to 59
 * @param hours 0 to 23
 * @param days which days of a month
 * @param months 1 to 12
 * @param namesTimesOfDay whether second, minute and hour are all given without a {@code *}
 */
record CronFields(
    long seconds, long minutes, long hours, CronDays days, long months, boolean namesTimesOfDay) {

  /** The first time in this stretch; null when it holds none. */
  @Nullable LocalDateTime next(LocalDateTime from, LocalDateTime before) {
    if (!from.isBefore(before)) {
      return null;
    }
    @Nullable LocalDateTime found = next(from, YearMonth.from(before));
    return found != null && found.isBefore(before) ? found : null;
  }

  /** Month by month up to this one. */
  private @Nullable LocalDateTime next(LocalDateTime from, YearMonth last) {
    @Nullable LocalTime rest = time(from.toLocalTime());
    YearMonth first = YearMonth.from(from);
    for (YearMonth month = first; !month.isAfter(last); month = month.plusMonths(1)) {
      if (!has(months, month.getMonthValue())) {
        continue;
      }
      long left = days.of(month);
      if (month.equals(first)) {
        int today = from.getDayOfMonth();
        if (rest != null && has(left, today)) {
          return from.toLocalDate().atTime(rest);
        }
        left &= above(today);
      }
      if (left != 0) {
        LocalDate day = month.atDay(Long.numberOfTrailingZeros(left));
        return day.atTime(first(hours), first(minutes), first(seconds));
      }
    }
    return null;
  }

  /** The first time of the day that isn't before this one; null when there is none. */
  private @Nullable LocalTime time(LocalTime from) {
    int hour = from.getHour();
    int minute = from.getMinute();
    if (has(hours, hour)) {
      if (has(minutes, minute)) {
        long left = seconds & from(from.getSecond());
        if (left != 0) {
          return LocalTime.of(hour, minute, first(left));
        }
      }
      long left = minutes & above(minute);
      if (left != 0) {
        return LocalTime.of(hour, first(left), first(seconds));
      }
    }
    long left = hours & above(hour);
    return left == 0 ? null : LocalTime.of(first(left), first(minutes), first(seconds));
  }

  static boolean has(long set, int number) {
    return (set >>> number & 1) != 0;
  }

  private static int first(long set) {
    return Long.numberOfTrailingZeros(set);
  }

  /** This number and all above it, up to 63. */
  private static long from(int number) {
    return -1L << number;
  }

  private static long above(int number) {
    return from(number) << 1;
  }

  /** Whether any date ever meets it. The days of the week fall on the same dates every 28 years. */
  boolean isPossible() {
    LocalDateTime start = LocalDate.of(2000, 1, 1).atStartOfDay();
    return next(start, start.plusYears(28)) != null;
  }

  /** Which days of a month an expression names. */
  @FunctionalInterface
  interface CronDays {
    /** The days, as the bits 1 to 31. */
    long of(YearMonth month);

    /** Those of both. */
    default CronDays and(CronDays other) {
      return month -> of(month) & other.of(month);
    }

    /** Those of either. */
    default CronDays or(CronDays other) {
      return month -> of(month) | other.of(month);
    }

    /** These numbers, where the month has them. */
    static CronDays ofMonth(long numbers) {
      return month -> numbers & all(month);
    }

    /** So many days before the last. */
    static CronDays beforeLast(int days) {
      return month -> days < month.lengthOfMonth() ? 1L << (month.lengthOfMonth() - days) : 0;
    }

    /** The weekday next to this day, within the month. */
    static CronDays weekdayNextTo(int day) {
      return month -> day <= month.lengthOfMonth() ? 1L << weekday(month.atDay(day)) : 0;
    }

    /** The last weekday. */
    static CronDays lastWeekday() {
      return month -> 1L << weekday(month.atEndOfMonth());
    }

    private static int weekday(LocalDate day) {
      int number = day.getDayOfMonth();
      if (day.getDayOfWeek() == DayOfWeek.SATURDAY) {
        return number == 1 ? 3 : number - 1;
      }
      if (day.getDayOfWeek() == DayOfWeek.SUNDAY) {
        return number == day.lengthOfMonth() ? number - 2 : number + 1;
      }
      return number;
    }

    /**
     * These days of the week.
     *
     * @param numbers 1 for Monday to 7 for Sunday
     */
    static CronDays ofWeek(long numbers) {
      return month -> {
        long days = 0;
        int dayOfWeek = month.atDay(1).getDayOfWeek().getValue();
        for (int day = 1; day <= month.lengthOfMonth(); day++) {
          if (has(numbers, dayOfWeek)) {
            days |= 1L << day;
          }
          dayOfWeek = dayOfWeek % 7 + 1;
        }
        return days;
      };
    }

    /** The month's so manieth of this day of the week. */
    static CronDays nth(int dayOfWeek, int nth) {
      return month -> {
        int day = firstOf(month, dayOfWeek) + 7 * (nth - 1);
        return day <= month.lengthOfMonth() ? 1L << day : 0;
      };
    }

    /** The month's last of this day of the week. */
    static CronDays last(int dayOfWeek) {
      return month -> {
        int first = firstOf(month, dayOfWeek);
        return 1L << (first + (month.lengthOfMonth() - first) / 7 * 7);
      };
    }

    private static int firstOf(YearMonth month, int dayOfWeek) {
      return 1 + Math.floorMod(dayOfWeek - month.atDay(1).getDayOfWeek().getValue(), 7);
    }

    private static long all(YearMonth month) {
      return (1L << (month.lengthOfMonth() + 1)) - 2;
    }
  }
}
