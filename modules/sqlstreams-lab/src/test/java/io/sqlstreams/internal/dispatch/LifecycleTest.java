package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.config.DeliveryLimits;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.internal.dispatch.QueueChange.State;
import io.sqlstreams.lab.Script;
import io.sqlstreams.lab.Step;
import io.sqlstreams.lab.Step.Kind;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** The model takes right histories and refuses wrong ones. */
class LifecycleTest {
  private static final Delivered SUCCESS = new Delivered(0, "success", null);
  private static final Delivered LOST = new Delivered(0, "expired", "gone");

  private static final GroupConfig GROUP =
      GroupConfig.defaults()
          .withTimeout(Duration.ofSeconds(3))
          .withRetry(
              RetryPolicy.defaults()
                  .withMaxRetries(2)
                  .withMaxDelays(1)
                  .withInitialBackoff(Duration.ofMillis(20))
                  .withBackoff(Duration.ofMillis(30), 2)
                  .withCap(Duration.ofMillis(50))
                  .withJitter(0.5));

  @Test
  void aMessageIsDoneAtOnce() {
    Lifecycle model = model();
    model.delivered(SUCCESS);
    model.ended();
    assertThat(model.isDone()).isTrue();
    assertThat(model.left()).isNull();
    assertThat(model.queue()).isEmpty();
  }

  @Test
  void aMessageFailsAndIsDelayedAndDead() {
    Lifecycle model = model(Kind.FAIL, Kind.DELAY, Kind.NULL, Kind.ERROR);
    model.delivered(failure(0, Kind.FAIL));
    model.delivered(new Delivered(1, "delayed", null));
    model.delivered(new Delivered(2, "failure", "the handler returned null"));
    model.delivered(failure(3, Kind.ERROR));
    model.ended();
    assertThat(model.left()).isEqualTo("dead|4|1|scripted ERROR in attempt 3");
    assertThat(model.queue())
        .containsExactly(
            new Lifecycle.Expected(
                new State("ready", 1, 0, false), new Granted.Wait(10_000, 30_000)),
            new Lifecycle.Expected(
                new State("ready", 2, 1, false), new Granted.Wait(70_000, 70_000)),
            new Lifecycle.Expected(
                new State("ready", 3, 1, false), new Granted.Wait(25_000, 50_000)),
            new Lifecycle.Expected(new State("dead", 4, 1, false), Granted.Wait.NONE));
  }

  @Test
  void theFirstLostProcessIsForgivenAndTheNextOnesAreNot() {
    Lifecycle model = model(Kind.FAIL, Kind.HALT, Kind.HALT, Kind.HALT);
    model.delivered(failure(0, Kind.FAIL));
    model.delivered(new Delivered(1, "expired", "gone"));
    model.delivered(new Delivered(1, "expired", "gone"));
    model.delivered(new Delivered(2, "expired", "gone"));
    model.ended();
    assertThat(model.left()).isEqualTo("dead|3|0|gone");
  }

  @Test
  void aQuarantinedMessageIsASuspectFromTheBeginning() {
    Lifecycle model = model(Kind.HALT);
    model.quarantined();
    model.delivered(LOST);
    model.delivered(new Delivered(1, "success", null));
    model.ended();
    assertThat(model.isDone()).isTrue();
  }

  @Test
  void whatAHandlerWouldDoCountsNoMoreWhenItsTimeIsOver() {
    Lifecycle model = model(Kind.SLEEP, Kind.DEAD);
    model.delivered(new Delivered(0, "failure", "the handler took longer than PT3S"));
    model.delivered(new Delivered(1, "failure", "the handler took longer than PT3S, then: x"));
    model.delivered(new Delivered(2, "success", null));
    model.ended();
    assertThat(model.isDone()).isTrue();
  }

  @Test
  void limitsBoundWhatIsGranted() {
    GroupConfig group =
        GROUP.withLimits(
            DeliveryLimits.defaults()
                .withRetries(1, 2)
                .withMaxDelays(1)
                .withTimeout(Duration.ofSeconds(2), Duration.ofSeconds(4))
                .withBackoff(Duration.ofMillis(15), Duration.ofMillis(50)));
    Granted granted =
        Granted.of(
            group,
            ProduceOptions.defaults()
                .withTimeout(Duration.ofSeconds(9))
                .withRetry(RetryPolicy.defaults().withMaxRetries(7).withJitter(0)));
    assertThat(granted.timeout()).isEqualTo(Duration.ofSeconds(4));
    assertThat(granted.maxRetries()).isEqualTo(2);
    assertThat(granted.maxDelays()).isEqualTo(1);
    assertThat(granted.backoff(1)).isEqualTo(new Granted.Wait(50_000, 50_000));
  }

  @Test
  void aSuccessTwiceIsRefused() {
    refuses("after its end", SUCCESS, SUCCESS);
  }

  @Test
  void anythingAfterTheEndIsRefused() {
    Lifecycle model = model(Kind.FATAL);
    model.delivered(new Delivered(0, "killed", Step.of(Kind.FATAL).words(0)));
    assertRefused("after its end", () -> model.delivered(new Delivered(1, "success", null)));
  }

  @Test
  void aSkippedAttemptIsRefused() {
    refuses("where attempt 0 was due", new Delivered(1, "success", null));
  }

  @Test
  void anAttemptThatIsMadeAgainAfterItsResultIsRefused() {
    Lifecycle model = model(Kind.FAIL);
    model.delivered(failure(0, Kind.FAIL));
    assertRefused("where attempt 1 was due", () -> model.delivered(failure(0, Kind.FAIL)));
  }

  @Test
  void aLostMessageIsRefused() {
    assertRefused("it is lost", () -> model().ended());
    Lifecycle model = model(Kind.FAIL);
    model.delivered(failure(0, Kind.FAIL));
    assertRefused("it is lost", model::ended);
  }

  @Test
  void anEventThatTheScriptDoesNotGiveIsRefused() {
    for (Kind kind : Kind.values()) {
      assertRefused(
          kind == Kind.DONE ? "gives success" : "",
          () -> model(kind).delivered(new Delivered(0, "deferred", "x")));
      if (kind != Kind.DONE) {
        assertRefused("", () -> model(kind).delivered(SUCCESS));
      }
      assertRefused(
          "", () -> model(kind).delivered(new Delivered(0, "failure", "of another kind")));
    }
  }

  @Test
  void aDelayTooManyIsRefused() {
    Lifecycle model = model(Kind.DELAY, Kind.DELAY);
    model.delivered(new Delivered(0, "delayed", null));
    assertRefused("gives killed", () -> model.delivered(new Delivered(1, "delayed", null)));
  }

  @Test
  void anotherTimeoutThanTheGrantedOneIsRefused() {
    refuses("gives success", new Delivered(0, "failure", "the handler took longer than PT1S"));
  }

  @Test
  void aLostProcessOfARangeLeavesNoRow() {
    refuses("in a range", LOST);
  }

  @Test
  void theQueueMustHoldWhatTheModelSays() {
    Lifecycle model = model(Kind.FAIL);
    model.delivered(failure(0, Kind.FAIL));
    model.delivered(new Delivered(1, "success", null));
    QueueChange ready = new QueueChange("ready", 1, 0, false, 20_100, 100, 150);
    QueueChange taken = new QueueChange("inflight", 1, 0, false, 20_100, 20_200, 20_300);
    QueueChange unbegun = new QueueChange("ready", 1, 0, false, 20_400, 20_400, 20_450);
    QueueChange again = new QueueChange("inflight", 1, 0, false, 20_400, 20_500, 20_550);
    QueueChange gone = new QueueChange("gone", 1, 0, false, 20_400, 20_600, 20_650);
    trace(ready, taken, gone).check(model.queue());
    trace(ready, taken, unbegun, again, gone).check(model.queue());
    assertRefused("where it must hold", () -> trace().check(model.queue()));
    assertRefused("the last was", () -> trace(ready, taken).check(model.queue()));
    assertRefused("after", () -> trace(ready, gone).check(model.queue()));
    assertRefused("after", () -> trace(ready, taken, gone, unbegun).check(model.queue()));
    assertRefused("after", () -> trace(ready, taken, taken, gone).check(model.queue()));
    QueueChange early = new QueueChange("inflight", 1, 0, false, 20_100, 19_000, 19_900);
    assertRefused("after", () -> trace(ready, early, gone).check(model.queue()));
    QueueChange hasty = new QueueChange("ready", 1, 0, false, 9_000, 100, 150);
    assertRefused("doesn't wait", () -> trace(hasty, taken, gone).check(model.queue()));
    QueueChange late = new QueueChange("ready", 1, 0, false, 30_200, 100, 150);
    QueueChange takenLate = new QueueChange("inflight", 1, 0, false, 30_200, 30_300, 30_300);
    assertRefused("doesn't wait", () -> trace(late, takenLate, gone).check(model.queue()));
    QueueChange other = new QueueChange("ready", 1, 1, false, 20_100, 100, 150);
    assertRefused("where it must hold", () -> trace(other, taken, gone).check(model.queue()));
  }

  private static void refuses(String why, Delivered... rows) {
    Lifecycle model = model();
    assertRefused(why, () -> Arrays.stream(rows).forEach(model::delivered));
  }

  private static void assertRefused(String why, ThrowingCallable history) {
    assertThatThrownBy(history).isInstanceOf(WrongHistoryException.class).hasMessageContaining(why);
  }

  private static Lifecycle model(Kind... kinds) {
    List<Step> steps = Arrays.stream(kinds).map(kind -> new Step(kind, 70)).toList();
    return new Lifecycle(new Script(steps), Granted.of(GROUP, ProduceOptions.defaults()));
  }

  private static QueueTrace trace(QueueChange... changes) {
    return new QueueTrace(List.of(changes));
  }

  private static Delivered failure(int attempt, Kind kind) {
    return new Delivered(attempt, "failure", Step.of(kind).words(attempt));
  }
}
