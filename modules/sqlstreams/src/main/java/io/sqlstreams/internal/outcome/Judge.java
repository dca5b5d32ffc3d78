package io.sqlstreams.internal.outcome;

import io.sqlstreams.Outcome;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Turns the end of an attempt into a verdict by the group's retry policy. Thread-safe. */
public final class Judge {
  private final RetryPolicy policy;

  public Judge(RetryPolicy policy) {
    this.policy = policy;
  }

  /**
   * The verdict on what a handler returned.
   *
   * @param outcome what it returned; null is a failure
   * @param attempt the attempt that has ended, 0 for the first
   * @param delays how many attempts before it asked for a delay
   */
  public Verdict returned(@Nullable Outcome outcome, int attempt, int delays) {
    if (outcome == null) {
      return failed("the handler returned null instead of an outcome", attempt, delays);
    }
    if (outcome instanceof Outcome.Delay delay) {
      return new Verdict(
          Verdict.Status.READY,
          Verdict.Event.DELAYED,
          attempt + 1,
          delays + 1,
          delay.after().toNanos() / 1_000,
          null);
    }
    if (outcome instanceof Outcome.Dead dead) {
      return new Verdict(
          Verdict.Status.DEAD,
          Verdict.Event.KILLED,
          attempt + 1,
          delays,
          0,
          ErrorText.clean(dead.reason()));
    }
    return Verdict.DONE;
  }

  /** The verdict on an attempt that failed for this reason. */
  public Verdict failed(String reason, int attempt, int delays) {
    int failures = attempt + 1 - delays;
    boolean dead = failures > policy.maxRetries();
    return new Verdict(
        dead ? Verdict.Status.DEAD : Verdict.Status.READY,
        Verdict.Event.FAILURE,
        attempt + 1,
        delays,
        dead ? 0 : backoff(failures).toNanos() / 1_000,
        ErrorText.clean(reason));
  }

  /** The wait after so many failures, with its share of chance. */
  public Duration backoff(int failures) {
    return Backoff.after(policy, failures, ThreadLocalRandom.current().nextDouble());
  }
}
