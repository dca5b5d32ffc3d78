package io.sqlstreams.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.springframework.scheduling.support.CronExpression;

/**
 * Every zone of the JDK, for two years. What Spring's {@link CronExpression} makes of an expression
 * is compared, except within a day of a change of the clocks, where it is known to run twice or not
 * at all, to lose the rest of a day, or to stand still; what is ours there has tests of its own.
 */
class CronZonesTest {
  private static final Instant FROM = Instant.parse("2024-06-30T12:00:00Z");
  private static final Instant UNTIL = FROM.plus(730, ChronoUnit.DAYS);

  private static final String DAILY = "5 2 * * *";
  private static final String HOURLY = "30 * * * *";
  private static final List<String> EXPRESSIONS =
      List.of(DAILY, "30 */12 * * *", "15,45 1,23 * * MON-FRI", "*/20 0-3 1,15 * *", "0 0 L * *");

  /** One zone for each set of rules: many have several names. */
  private static Collection<ZoneId> zones() {
    Map<String, ZoneId> byName = new TreeMap<>();
    ZoneId.getAvailableZoneIds().forEach(name -> byName.put(name, ZoneId.of(name)));
    return byName.values().stream()
        .collect(Collectors.toMap(CronZonesTest::behaviour, zone -> zone, (one, other) -> one))
        .values();
  }

  private static List<Object> behaviour(ZoneId zone) {
    List<Object> behaviour = new ArrayList<>(transitions(zone));
    behaviour.add(zone.getRules().getOffset(FROM));
    return behaviour;
  }

  private static List<ZoneOffsetTransition> transitions(ZoneId zone) {
    ZoneRules rules = zone.getRules();
    List<ZoneOffsetTransition> transitions = new ArrayList<>();
    ZoneOffsetTransition next = rules.nextTransition(FROM.minus(2, ChronoUnit.DAYS));
    while (next != null && next.getInstant().isBefore(UNTIL.plus(2, ChronoUnit.DAYS))) {
      transitions.add(next);
      next = rules.nextTransition(next.getInstant());
    }
    return transitions;
  }

  @Test
  void everyZoneGoesOnWithoutSpinningAndAsSpringDoes() {
    assertThat(zones()).hasSizeGreaterThan(60);
    for (ZoneId zone : zones()) {
      for (String expression : EXPRESSIONS) {
        List<Instant> times = times(Cron.of(expression, zone));
        for (Stretch calm : calmStretches(zone)) {
          requireAsInSpring(expression, zone, calm, times);
        }
      }
    }
  }

  /** Strictly increasing, and as many as there can be at the most. */
  private static List<Instant> times(Cron cron) {
    return times(cron, new Stretch(FROM, UNTIL));
  }

  private static List<Instant> times(Cron cron, Stretch stretch) {
    List<Instant> times = new ArrayList<>();
    Instant time = cron.next(stretch.from());
    while (time.isBefore(stretch.until())) {
      times.add(time);
      Instant next = cron.next(time);
      if (!next.isAfter(time)) {
        throw new AssertionError(cron + " goes from " + time + " to " + next);
      }
      time = next;
    }
    return times;
  }

  private record Stretch(Instant from, Instant until) {}

  /** Between the changes of the clocks, a day from each. */
  private static List<Stretch> calmStretches(ZoneId zone) {
    List<Stretch> stretches = new ArrayList<>();
    Instant from = FROM;
    for (ZoneOffsetTransition transition : transitions(zone)) {
      stretches.add(new Stretch(from, transition.getInstant().minus(1, ChronoUnit.DAYS)));
      from = transition.getInstant().plus(1, ChronoUnit.DAYS);
    }
    stretches.add(new Stretch(from, UNTIL));
    return stretches;
  }

  private static void requireAsInSpring(
      String expression, ZoneId zone, Stretch stretch, List<Instant> times) {
    CronExpression spring = CronExpression.parse("0 " + expression);
    ZonedDateTime theirs = spring.next(stretch.from().atZone(zone));
    int at = Math.abs(Collections.binarySearch(times, stretch.from().plusNanos(1)) + 1);
    while (at < times.size() && times.get(at).isBefore(stretch.until())) {
      if (!times.get(at).equals(theirs.toInstant())) {
        throw new AssertionError(
            expression + " in " + zone + ": " + times.get(at) + ", by Spring " + theirs);
      }
      theirs = spring.next(theirs);
      at++;
    }
    if (theirs.toInstant().isBefore(stretch.until())) {
      throw new AssertionError(expression + " in " + zone + ": none at " + theirs);
    }
  }

  @Test
  void everyZoneKeepsATimeOfTheDayOnceForEachDate() {
    for (ZoneId zone : zones()) {
      for (LocalTime planned :
          List.of(LocalTime.of(2, 5), LocalTime.MIDNIGHT, LocalTime.of(23, 30))) {
        String expression = planned.getMinute() + " " + planned.getHour() + " * * *";
        Map<LocalDate, Long> byDate =
            times(Cron.of(expression, zone)).stream()
                .collect(
                    Collectors.groupingBy(
                        time -> plannedDate(zone, planned, time), Collectors.counting()));
        assertThat(byDate.values()).as("%s in %s", expression, zone).containsOnly(1L);
        assertThat(byDate.size()).as("%s in %s", expression, zone).isBetween(729, 731);
      }
    }
  }

  /** A time that is kept behind a gap belongs to the date on which the gap begins. */
  private static LocalDate plannedDate(ZoneId zone, LocalTime planned, Instant time) {
    ZonedDateTime local = time.atZone(zone);
    return local.toLocalTime().equals(planned)
        ? local.toLocalDate()
        : zone.getRules().previousTransition(time.plusNanos(1)).getDateTimeBefore().toLocalDate();
  }

  @Test
  void everyZoneRunsWheneverItsClockShowsTheTime() {
    for (ZoneId zone : zones()) {
      for (ZoneOffsetTransition transition : transitions(zone)) {
        Instant from = transition.getInstant().minus(1, ChronoUnit.DAYS);
        Stretch around = new Stretch(from, from.plus(2, ChronoUnit.DAYS));
        List<Instant> shown = new ArrayList<>();
        for (Instant t = from.plusSeconds(900);
            t.isBefore(around.until());
            t = t.plusSeconds(900)) {
          if (t.atZone(zone).getMinute() == 30) {
            shown.add(t);
          }
        }
        assertThat(times(Cron.of(HOURLY, zone), around)).as(zone.getId()).isEqualTo(shown);
      }
    }
  }

  @Test
  void theTimeOfTheDayIsThatOfTheZone() {
    Cron cron = Cron.of(DAILY, ZoneId.of("Europe/Paris"));
    assertThat(cron.next(FROM).atZone(cron.zone()).toLocalTime()).isEqualTo(LocalTime.of(2, 5));
  }
}
