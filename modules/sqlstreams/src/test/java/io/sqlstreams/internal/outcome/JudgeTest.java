package io.sqlstreams.internal.outcome;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.Outcome;
import io.sqlstreams.OutcomeException;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.outcome.Verdict.Event;
import io.sqlstreams.internal.outcome.Verdict.Status;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class JudgeTest {
  private static final GroupConfig GROUP =
      GroupConfig.defaults().withRetry(RetryPolicy.defaults().withMaxRetries(2).withMaxDelays(41));

  private final Policies policies = new Policies(GROUP);
  private final Judge judge = new Judge(policies, Set.of(IOException.class, LinkageError.class));
  private final Policy policy = policies.ofGroup();

  @Test
  void failuresAreAttemptsWithoutDelaysAndWithoutThoseBeforeTheLastRedrive() {
    assertThat(failed(0, 0, 0).status()).isEqualTo(Status.READY);
    assertThat(failed(1, 0, 0).status()).isEqualTo(Status.READY);
    assertThat(failed(2, 0, 0).status()).isEqualTo(Status.DEAD);
    assertThat(failed(7, 5, 0).status()).isEqualTo(Status.DEAD);
    assertThat(failed(7, 6, 0).status()).isEqualTo(Status.READY);
    assertThat(failed(3, 0, 3).status()).isEqualTo(Status.READY);
    assertThat(failed(4, 0, 3).status()).isEqualTo(Status.READY);
    assertThat(failed(5, 0, 3).status()).isEqualTo(Status.DEAD);
    assertThat(failed(6, 1, 3).status()).isEqualTo(Status.DEAD);
    assertThat(failed(6, 2, 3).status()).isEqualTo(Status.READY);
  }

  private Verdict failed(int attempt, int delays, int forgiven) {
    return judge.failed("no", policy, new Tries(attempt, delays, forgiven));
  }

  @Test
  void anAttemptMoreComesNext() {
    Verdict verdict = failed(1, 0, 0);
    assertThat(verdict.attempt()).isEqualTo(1);
    assertThat(verdict.attempts()).isEqualTo(2);
    assertThat(verdict.event()).isEqualTo(Event.FAILURE);
    assertThat(verdict.waitMicros()).isBetween(1_600_000L, 2_400_000L);
    assertThat(failed(3, 0, 3).waitMicros())
        .as("the first wait after a redrive")
        .isBetween(4_000_000L, 6_000_000L);
  }

  @Test
  void aDelayIsNoFailureUntilThereAreTooMany() {
    Verdict verdict = returned(Outcome.delay(Duration.ofHours(1)), new Tries(41, 40, 0));
    assertThat(verdict)
        .isEqualTo(new Verdict(Status.READY, Event.DELAYED, 41, 42, 41, 3_600_000_000L, null));
    Verdict last = returned(Outcome.delay(Duration.ofHours(1)), new Tries(42, 41, 0));
    assertThat(last.status()).isEqualTo(Status.DEAD);
    assertThat(last.event()).isEqualTo(Event.KILLED);
    assertThat(last.error()).contains("41 delays");
  }

  @Test
  void theLongestDelayDoesNotOverflow() {
    Verdict verdict = returned(Outcome.delay(Duration.ofNanos(Long.MAX_VALUE)), Tries.NONE);
    assertThat(verdict.waitMicros()).isEqualTo(Long.MAX_VALUE / 1_000);
  }

  @Test
  void deadAndDoneAndNull() {
    assertThat(returned(Outcome.done(), Tries.NONE)).isSameAs(Verdict.DONE);
    assertThat(returned(Outcome.dead("no\0"), Tries.NONE).error()).isEqualTo("no\uFFFD");
    assertThat(returned(Outcome.dead(null), Tries.NONE).error()).isEqualTo("no reason given");
    assertThat(judge.returned(null, policy, Tries.NONE).event()).isEqualTo(Event.FAILURE);
    assertThat(returned(Outcome.failed(null), Tries.NONE).event()).isEqualTo(Event.FAILURE);
  }

  @Test
  void aSuccessIsAnEventOnlyWhenAllAreLogged() {
    policies.set(GROUP.withDeliveryLog(DeliveryLogMode.ALL));
    Verdict verdict = returned(Outcome.done(), new Tries(3, 1, 0));
    assertThat(verdict.isDone()).isTrue();
    assertThat(verdict.event()).isEqualTo(Event.SUCCESS);
    assertThat(verdict.attempt()).isEqualTo(3);
  }

  static Stream<Throwable> wrapped() {
    Exception root = new OutcomeException(Outcome.dead("gone"));
    return Stream.of(
        root,
        new ExecutionException(root),
        new CompletionException(new ExecutionException(root)),
        new InvocationTargetException(new RuntimeException("outer", root)));
  }

  @ParameterizedTest
  @MethodSource("wrapped")
  void anOutcomeCountsHoweverDeepItIsThrown(Throwable thrown) {
    Verdict verdict = threw(thrown);
    assertThat(verdict.status()).isEqualTo(Status.DEAD);
    assertThat(verdict.event()).isEqualTo(Event.KILLED);
    assertThat(verdict.error()).isEqualTo("gone");
  }

  @Test
  void aThrownDelayKeepsWhatLedToIt() {
    Verdict verdict =
        threw(
            new OutcomeException(
                Outcome.delay(Duration.ofSeconds(3)), new IllegalStateException("busy")));
    assertThat(verdict.event()).isEqualTo(Event.DELAYED);
    assertThat(verdict.waitMicros()).isEqualTo(3_000_000);
    assertThat(verdict.error()).contains("busy");
    assertThat(
            threw(new OutcomeException(Outcome.failed(new IllegalStateException("busy")))).event())
        .isEqualTo(Event.FAILURE);
  }

  @Test
  void doneCanNotBeThrown() {
    assertThatThrownBy(() -> new OutcomeException(Outcome.done()))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("return it");
  }

  @Test
  void anErrorThatNoRetryMendsIsDeadAtOnceAlsoAsACauseAndAsASubclass() {
    assertThat(threw(new IOException("no")).status()).isEqualTo(Status.DEAD);
    Verdict verdict = threw(new UncheckedIOException(new java.io.FileNotFoundException("x")));
    assertThat(verdict.status()).isEqualTo(Status.DEAD);
    assertThat(verdict.event()).isEqualTo(Event.KILLED);
    assertThat(threw(new NoClassDefFoundError("x")).status()).isEqualTo(Status.DEAD);
    assertThat(threw(new IllegalStateException("x")).status()).isEqualTo(Status.READY);
    assertThat(returned(Outcome.failed(new IOException("no")), Tries.NONE).status())
        .isEqualTo(Status.DEAD);
  }

  @Test
  void anErrorWhoseOwnMethodsThrowIsAFailureLikeAnother() {
    Verdict verdict =
        threw(
            new RuntimeException() {
              @Override
              public synchronized Throwable getCause() {
                throw new IllegalStateException("no cause");
              }

              @Override
              public String getMessage() {
                throw new IllegalStateException("no message");
              }
            });
    assertThat(verdict.event()).isEqualTo(Event.FAILURE);
    assertThat(verdict.error()).startsWith(JudgeTest.class.getName());
  }

  @Test
  void theFirstLostProcessIsNobodysFaultAndTheNextIsAFailure() {
    Verdict first = judge.expired(false, policy, new Tries(2, 0, 0));
    assertThat(first.status()).isEqualTo(Status.READY);
    assertThat(first.attempts()).isEqualTo(2);
    assertThat(first.event()).isEqualTo(Event.EXPIRED);
    Verdict next = judge.expired(true, policy, new Tries(1, 0, 0));
    assertThat(next.status()).isEqualTo(Status.READY);
    assertThat(next.attempts()).isEqualTo(2);
    assertThat(judge.expired(true, policy, new Tries(2, 0, 0)).status()).isEqualTo(Status.DEAD);
  }

  private Verdict returned(Outcome outcome, Tries tries) {
    return judge.returned(outcome, policy, tries);
  }

  private Verdict threw(Throwable error) {
    return judge.threw(error, policy, Tries.NONE);
  }
}
