package io.sqlstreams.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.error.InvalidInputException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.scheduling.support.CronExpression;

class CronTest {
  private static final ZoneId BERLIN = ZoneId.of("Europe/Berlin");
  private static final LocalDate CLOCKS_BACK = LocalDate.of(2024, 10, 27);
  private static final LocalDate CLOCKS_FORWARD = LocalDate.of(2025, 3, 30);

  /** The local times, with their offsets, at which it runs on this date. */
  private static List<String> on(LocalDate date, String expression, ZoneId zone) {
    Cron cron = Cron.of(expression, zone);
    Instant end = date.plusDays(1).atStartOfDay(zone).toInstant();
    List<String> times = new ArrayList<>();
    Instant time = cron.next(date.atStartOfDay(zone).toInstant().minusSeconds(1));
    while (time.isBefore(end)) {
      ZonedDateTime local = time.atZone(zone);
      times.add(local.toLocalTime() + local.getOffset().getId());
      time = cron.next(time);
    }
    return times;
  }

  @Test
  void b38_aDailyRunBetweenTwoAndThreeComesOnceOnEveryDate() {
    assertThat(on(CLOCKS_BACK.minusDays(1), "5 2 * * *", BERLIN)).containsExactly("02:05+02:00");
    assertThat(on(CLOCKS_BACK, "5 2 * * *", BERLIN)).containsExactly("02:05+02:00");
    assertThat(on(CLOCKS_BACK.plusDays(1), "5 2 * * *", BERLIN)).containsExactly("02:05+01:00");
    // there is no 02:05: the moment to which the clocks are put forward
    assertThat(on(CLOCKS_FORWARD, "5 2 * * *", BERLIN)).containsExactly("03:00+02:00");
    assertThat(on(CLOCKS_FORWARD.plusDays(1), "5 2 * * *", BERLIN)).containsExactly("02:05+02:00");
  }

  @Test
  void b38_anHourlyRunComesInEveryHourThatPasses() {
    assertThat(on(CLOCKS_BACK, "30 * * * *", BERLIN))
        .hasSize(25)
        .contains("02:30+02:00", "02:30+01:00");
    assertThat(on(CLOCKS_FORWARD, "30 * * * *", BERLIN)).hasSize(23);
  }

  @Test
  void timesOfTheDayInAGapAreOneRunWithTheTimeBehindIt() {
    assertThat(on(CLOCKS_FORWARD, "0,15 2,3 * * *", BERLIN))
        .containsExactly("03:00+02:00", "03:15+02:00");
    assertThat(on(CLOCKS_FORWARD, "15,45 1-4 * * *", BERLIN))
        .containsExactly(
            "01:15+01:00",
            "01:45+01:00",
            "03:00+02:00",
            "03:15+02:00",
            "03:45+02:00",
            "04:15+02:00",
            "04:45+02:00");
  }

  @Test
  void aGapIsSeenFromTheLastMomentBeforeIt() {
    Instant change = Instant.parse("2025-03-30T01:00:00Z");
    Cron cron = Cron.of("5 2 * * *", BERLIN);
    assertThat(cron.next(change.minusSeconds(1))).isEqualTo(change);
    assertThat(cron.next(change.minusNanos(1))).isEqualTo(change);
    assertThat(cron.next(change)).isEqualTo("2025-03-31T00:05:00Z");
  }

  @Test
  void timesOfTheDayComeTheFirstTimeOnly() {
    assertThat(on(CLOCKS_BACK, "15,45 2 * * *", BERLIN))
        .containsExactly("02:15+02:00", "02:45+02:00");
    assertThat(Cron.of("15 2 * * *", BERLIN).next(Instant.parse("2024-10-27T01:10:00Z")))
        .as("asked in the hour that comes the second time")
        .isEqualTo("2024-10-28T01:15:00Z");
  }

  @Test
  void anIntervalGoesByWhatTheClockShows() {
    assertThat(on(CLOCKS_BACK, "*/15 2 * * *", BERLIN)).hasSize(8);
    assertThat(on(CLOCKS_FORWARD, "*/15 2 * * *", BERLIN)).isEmpty();
    assertThat(on(CLOCKS_BACK, "0 */2 * * *", BERLIN)).hasSize(13);
  }

  /** Spring's expression stands still here, and cron-utils loses the two. */
  @Test
  void aChangeOfHalfAnHourLosesAndRepeatsNothing() {
    ZoneId zone = ZoneId.of("Australia/Lord_Howe");
    assertThat(on(LocalDate.of(2025, 4, 6), "0 1-4 * * *", zone))
        .containsExactly("01:00+11:00", "02:00+10:30", "03:00+10:30", "04:00+10:30");
    assertThat(on(LocalDate.of(2024, 10, 6), "*/15 2 * * *", zone))
        .containsExactly("02:30+11:00", "02:45+11:00");
  }

  /** Spring loses the whole day. */
  @Test
  void aDayThatBeginsLaterIsADay() {
    ZoneId zone = ZoneId.of("Africa/Cairo");
    LocalDate date = LocalDate.of(2025, 4, 25);
    assertThat(on(date, "0 */2 * * *", zone)).hasSize(11).startsWith("02:00+03:00");
    assertThat(on(date, "0 0 * * *", zone)).containsExactly("01:00+03:00");
    assertThat(on(date, "@daily", zone)).containsExactly("01:00+03:00");
  }

  @Test
  void aDayThatAZoneLeftOutHasNoRun() {
    assertThat(
            Cron.of("5 2 * * *", ZoneId.of("Pacific/Apia"))
                .next(Instant.parse("2011-12-29T13:00:00Z"), 2))
        .containsExactly(
            Instant.parse("2011-12-30T12:05:00Z"), Instant.parse("2011-12-31T12:05:00Z"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "0 * * * * *",
        "*/7 * * * * *",
        "0 0 0 L * *",
        "0 0 0 L-3 * *",
        "0 0 0 LW * *",
        "0 0 0 15W * *",
        "0 0 0 1W * ?",
        "0 0 0 ? * FRIL",
        "0 0 0 * * 5L",
        "0 0 0 * * MON#2",
        "0 0 0 * * 1#5",
        "0 0 0 13 * FRI",
        "0 0 0 29 2 *",
        "0 0 0 29 2 MON",
        "0 0 9-17/2 * JAN-mar mon-Fri",
        "0 5/15 8 * * *",
        "0 0 0 * * 5-7",
        "0 0 0 * * SUN-TUE",
        "0 0 0 * * 0",
        "0 0 0 * * 7",
        "0 0 0 * * 1/2",
        "10,20,30 1,2 3 4 5 *",
        "0 0 0 1,L * *",
        "@hourly",
        "@daily",
        "@midnight",
        "@weekly",
        "@monthly",
        "@yearly",
        "@annually"
      })
  void withoutChangesOfTheClocksItIsAsInSpring(String expression) {
    CronExpression spring = CronExpression.parse(expression);
    List<Instant> theirs = new ArrayList<>();
    ZonedDateTime time = LocalDateTime.of(2023, 12, 31, 23, 59, 30).atZone(ZoneOffset.UTC);
    Instant from = time.toInstant();
    for (int i = 0; i < 200; i++) {
      time = spring.next(time);
      if (time == null || time.getYear() > 2090) {
        break;
      }
      theirs.add(time.toInstant());
    }
    assertThat(Cron.of(expression).next(from, theirs.size())).isNotEmpty().isEqualTo(theirs);
  }

  /** Spring has none in March 2024, whose 31st is a Sunday. */
  @Test
  void theWeekdayNextToTheLastDayCanBeTwoDaysBefore() {
    assertThat(Cron.of("0 0 31W 3 *").next(Instant.parse("2024-01-01T00:00:00Z"), 2))
        .containsExactly(
            Instant.parse("2024-03-29T00:00:00Z"), Instant.parse("2025-03-31T00:00:00Z"));
  }

  @Test
  void theSecondIsZeroWhenItIsNotGiven() {
    assertThat(Cron.of("* * * * *").next(Instant.parse("2025-01-01T00:00:00.5Z"), 2))
        .containsExactly(
            Instant.parse("2025-01-01T00:01:00Z"), Instant.parse("2025-01-01T00:02:00Z"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"0 0 30 2 *", "0 0 31 4,6 *", "0 0 1W * SAT", "0 0 31 2,4,6,9,11 *"})
  void aDateThatNeverComesIsRefused(String expression) {
    assertThatThrownBy(() -> Cron.of(expression))
        .isInstanceOfSatisfying(
            InvalidInputException.class, e -> assertThat(e.field()).isEqualTo("expression"))
        .hasMessageContaining("\"" + expression + "\" never runs");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "0 24 * * *; the hour, \"24\" at character 3: 24 is outside 0 to 23",
        "60 * * * *; the minute, \"60\" at character 1: 60 is outside 0 to 59",
        "0  2 *  13 *; the month, \"13\" at character 9: 13 is outside 1 to 12",
        "0 0 0 * *; the day of the month, \"0\" at character 5: 0 is outside 1 to 31",
        "0 0 * * 8; the day of the week, \"8\" at character 9: 8 is outside 0 to 7",
        "0 0 * * MO; \"MO\" at character 9: \"MO\" isn't a value; names are SUN, MON",
        "1,2, * * * *; the minute, \"\" at character 5: a value is missing",
        "0 22-2 * * *; the hour, \"22-2\" at character 3: the range ends before it begins",
        "*/0 * * * *; the minute, \"*/0\" at character 1: the step must be a number from 1 to 59",
        "*/70 * * * *; the step must be a number from 1 to 59",
        "1-2-3 * * * *; it isn't a range",
        "*/2/3 * * * *; it has two steps",
        "0 0 * * 1#6; 6 is outside 1 to 5",
        "0 0 L-31 * *; 31 is outside 0 to 30",
        "? * * * *; the minute, \"?\" at character 1",
        "-5 * * * *; the minute, \"-5\" at character 1: a value is missing",
        "99999999999999999999 * * * *; is outside 0 to 59",
        "* * * *; has 4 fields: give five fields",
        "* * * * * * *; has 7 fields",
        "``; has 0 fields",
        "@reboot; isn't one of @hourly",
        "0 0 15X * *; the day of the month, \"15X\" at character 5"
      })
  void whatIsMalformedIsNamedByFieldAndPlace(String expression, String problem) {
    assertThatThrownBy(() -> Cron.of(expression))
        .isInstanceOfSatisfying(
            InvalidInputException.class, e -> assertThat(e.field()).isEqualTo("expression"))
        .hasMessageContaining(problem);
  }

  @Test
  void whatCanBeNoExpressionIsNotRepeatedAtLength() {
    assertThatThrownBy(() -> Cron.of("*".repeat(100_000)))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("100000 characters");
    assertThatThrownBy(() -> Cron.of("\u0000 \ud800"))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("\"\uFFFD \uFFFD\" has 2 fields");
  }

  @Test
  void anUnknownZoneIsRefused() {
    assertThatThrownBy(() -> Cron.of("0 2 * * *", "Europe/Olso"))
        .isInstanceOfSatisfying(
            InvalidInputException.class, e -> assertThat(e.field()).isEqualTo("timeZone"))
        .hasMessageContaining("\"Europe/Olso\" is no time zone");
    assertThat(Cron.of("0 2 * * *", "Europe/Oslo"))
        .isEqualTo(Cron.of(" 0  2 * * * ", ZoneId.of("Europe/Oslo")))
        .hasToString("0 2 * * * Europe/Oslo");
  }

  @Test
  void b42_withoutAZoneItIsUtcWhateverTheJvmHas() {
    assertThat(ZoneId.systemDefault()).isNotEqualTo(ZoneOffset.UTC);
    assertThat(Cron.of("0 2 * * *").next(Instant.parse("2025-07-01T12:00:00Z")))
        .isEqualTo("2025-07-02T02:00:00Z");
    assertThat(Cron.of("0 2 * * *").zone()).isEqualTo(Cron.DEFAULT_ZONE);
  }

  @Test
  void aMomentThatNoCalendarHasIsRefused() {
    assertThatThrownBy(() -> Cron.of("@daily").next(Instant.MAX))
        .isInstanceOf(InvalidInputException.class);
    assertThat(Cron.of("0 0 29 2 MON").next(Instant.parse("9899-12-31T00:00:00Z"))).isNotNull();
    assertThat(Cron.of("0 0 29 2 MON").next(Instant.parse("2096-02-28T00:00:00Z")))
        .as("2100 has no such day")
        .isEqualTo("2112-02-29T00:00:00Z");
  }
}
