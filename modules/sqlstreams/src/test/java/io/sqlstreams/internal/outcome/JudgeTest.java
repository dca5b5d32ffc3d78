package io.sqlstreams.internal.outcome;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Outcome;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class JudgeTest {
  private final Judge judge = new Judge(RetryPolicy.defaults().withMaxRetries(2));

  @Test
  void failuresAreAttemptsWithoutDelays() {
    assertThat(judge.failed("no", 0, 0).status()).isEqualTo(Verdict.Status.READY);
    assertThat(judge.failed("no", 1, 0).status()).isEqualTo(Verdict.Status.READY);
    assertThat(judge.failed("no", 2, 0).status()).isEqualTo(Verdict.Status.DEAD);
    assertThat(judge.failed("no", 7, 5).status()).isEqualTo(Verdict.Status.DEAD);
    assertThat(judge.failed("no", 7, 6).status()).isEqualTo(Verdict.Status.READY);
  }

  @Test
  void anAttemptMoreComesNext() {
    Verdict verdict = judge.failed("no", 1, 0);
    assertThat(verdict.attempts()).isEqualTo(2);
    assertThat(verdict.event()).isEqualTo(Verdict.Event.FAILURE);
    assertThat(verdict.waitMicros()).isBetween(1_600_000L, 2_400_000L);
  }

  @Test
  void aDelayIsNoFailureHoweverOften() {
    Verdict verdict = judge.returned(Outcome.delay(Duration.ofHours(1)), 41, 40);
    assertThat(verdict)
        .isEqualTo(
            new Verdict(Verdict.Status.READY, Verdict.Event.DELAYED, 42, 41, 3_600_000_000L, null));
  }

  @Test
  void theLongestDelayDoesNotOverflow() {
    Verdict verdict = judge.returned(Outcome.delay(Duration.ofNanos(Long.MAX_VALUE)), 0, 0);
    assertThat(verdict.waitMicros()).isEqualTo(Long.MAX_VALUE / 1_000);
  }

  @Test
  void deadAndDoneAndNull() {
    assertThat(judge.returned(Outcome.done(), 5, 0)).isSameAs(Verdict.DONE);
    assertThat(judge.returned(Outcome.dead("no\0"), 0, 0).error()).isEqualTo("no\uFFFD");
    assertThat(judge.returned(null, 0, 0).event()).isEqualTo(Verdict.Event.FAILURE);
  }
}
