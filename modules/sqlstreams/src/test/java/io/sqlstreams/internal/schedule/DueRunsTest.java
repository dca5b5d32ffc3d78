package io.sqlstreams.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.config.Cron;
import io.sqlstreams.config.MissedRuns;
import io.sqlstreams.config.ScheduleConfig;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class DueRunsTest {
  private static final Cron QUARTERS = Cron.of("*/15 * * * * *");
  private static final Instant NOON = Instant.parse("2025-05-05T12:00:00Z");

  private static ScheduleConfig config(MissedRuns policy) {
    return ScheduleConfig.defaults().withMissedRuns(policy);
  }

  /** Planned for 0 s, down until 70 s: 60 s is 10 s past by then, and the next comes at 75 s. */
  @ParameterizedTest
  @CsvSource({"SKIP, 0", "LATEST, 1", "ALL, 4"})
  void b40_aBreakOfSeventySeconds(MissedRuns policy, int late) {
    DueRuns due =
        DueRuns.of(QUARTERS, config(policy), NOON.plusSeconds(15), NOON.plusSeconds(70), 1_000);
    assertThat(due.runs()).hasSize(late);
    assertThat(due.next()).isEqualTo(NOON.plusSeconds(75));
    assertThat(due.dropped()).isEqualTo(policy != MissedRuns.ALL);
    if (late > 0) {
      assertThat(due.runs().get(late - 1)).isEqualTo(NOON.plusSeconds(60));
    }
  }

  /** Down until 62 s: what was planned for 60 s is merely late. */
  @ParameterizedTest
  @CsvSource({"SKIP, 1", "LATEST, 1", "ALL, 4"})
  void whatIsMerelyLateTakesThePlaceOfWhatWasMissed(MissedRuns policy, int runs) {
    DueRuns due =
        DueRuns.of(QUARTERS, config(policy), NOON.plusSeconds(15), NOON.plusSeconds(62), 1_000);
    assertThat(due.runs()).hasSize(runs).endsWith(NOON.plusSeconds(60));
    assertThat(due.next()).isEqualTo(NOON.plusSeconds(75));
  }

  @ParameterizedTest
  @CsvSource({"SKIP", "LATEST", "ALL"})
  void whatIsInTimeComesWhateverThePolicy(MissedRuns policy) {
    assertThat(DueRuns.of(QUARTERS, config(policy), NOON, NOON, 10))
        .isEqualTo(new DueRuns(List.of(NOON), NOON.plusSeconds(15), false));
    assertThat(DueRuns.of(QUARTERS, config(policy), NOON, NOON.plusSeconds(5), 10).runs())
        .as("five seconds late is still in time")
        .containsExactly(NOON);
    Cron secondly = Cron.of("* * * * * *");
    assertThat(DueRuns.of(secondly, config(policy), NOON, NOON.plusMillis(3_500), 10).runs())
        .isEqualTo(secondly.next(NOON.minusSeconds(1), 4));
  }

  @Test
  void theRestStaysDue() {
    DueRuns first =
        DueRuns.of(QUARTERS, config(MissedRuns.ALL), NOON, NOON.plusSeconds(3_600), 100);
    assertThat(first.runs()).hasSize(100);
    assertThat(first.next()).isEqualTo(NOON.plusSeconds(1_500));
  }

  @Test
  void theLastOfManyYearsIsFoundAtOnce() {
    Cron secondly = Cron.of("* * * * * *");
    ScheduleConfig notLate = config(MissedRuns.LATEST).withMissedAfter(Duration.ZERO);
    assertThat(DueRuns.of(secondly, notLate, Instant.EPOCH, NOON.plusMillis(1), 10).runs())
        .containsExactly(NOON);
    Cron newYear = Cron.of("* * * 1 1 *");
    assertThat(DueRuns.of(newYear, notLate, Instant.EPOCH, NOON, 10).runs())
        .containsExactly(Instant.parse("2025-01-01T23:59:59Z"));
  }

  /** The same as by going from each to the next. */
  @Test
  void theLastMissedIsTheLastWhateverTheExpression() {
    long seed = 7;
    Random random = new Random(seed);
    List<String> expressions =
        List.of("5 2 * * *", "30 * * * *", "*/7 1-4 * * MON", "0 0 1 * *", "0 0 29 2 *");
    for (int i = 0; i < 100; i++) {
      Cron cron =
          Cron.of(expressions.get(random.nextInt(expressions.size())), ZoneId.of("Europe/Berlin"));
      Instant next = cron.next(NOON.minusSeconds(random.nextInt(100_000_000)));
      Instant now = next.plusSeconds(1 + random.nextInt(20_000_000));
      List<Instant> all = new ArrayList<>();
      for (Instant t = next; t.isBefore(now.minusSeconds(5)); t = cron.next(t)) {
        all.add(t);
      }
      List<Instant> runs = DueRuns.of(cron, config(MissedRuns.LATEST), next, now, 10).runs();
      if (!cron.next(now.minusSeconds(6)).isAfter(now) || all.isEmpty()) {
        continue; // one is in time
      }
      assertThat(runs)
          .as("%s from %s to %s", cron, next, now)
          .containsExactly(all.get(all.size() - 1));
    }
  }
}
