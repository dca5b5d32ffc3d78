package io.sqlstreams.internal.outcome;

import io.sqlstreams.Outcome;
import io.sqlstreams.OutcomeException;
import io.sqlstreams.config.DeliveryLogMode;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/** Turns the end of an attempt into a verdict by the message's policy. Thread-safe. */
public final class Judge {
  private final Policies policies;
  private final Set<Class<? extends Throwable>> notRetryable;

  /**
   * @param notRetryable errors that make a message dead at once
   */
  public Judge(Policies policies, Set<Class<? extends Throwable>> notRetryable) {
    this.policies = policies;
    this.notRetryable = notRetryable;
  }

  /**
   * The verdict on what a handler returned.
   *
   * @param outcome what it returned; null is a failure
   */
  public Verdict returned(@Nullable Outcome outcome, Policy policy, Tries tries) {
    if (outcome == null) {
      return failed("the handler returned null instead of an outcome", policy, tries);
    }
    if (outcome instanceof Outcome.Failed failed) {
      return threw(failed.error(), policy, tries);
    }
    if (outcome instanceof Outcome.Delay delay) {
      return delayed(delay.after(), null, policy, tries);
    }
    if (outcome instanceof Outcome.Dead dead) {
      return dead(dead.reason(), tries);
    }
    return policies.group().deliveryLog() == DeliveryLogMode.ALL
        ? Verdict.done(tries)
        : Verdict.DONE;
  }

  /** The verdict on a message that no process of the group can be expected to read. */
  public Verdict unreadable(String reason, Tries tries) {
    return dead(reason, tries);
  }

  /** The verdict on what a handler threw. */
  public Verdict threw(@Nullable Throwable error, Policy policy, Tries tries) {
    if (error == null) {
      return failed("the handler failed with null instead of an error", policy, tries);
    }
    for (Throwable cause : Causes.of(error)) {
      if (cause instanceof OutcomeException thrown) {
        return ended(outcomeOf(thrown), error, policy, tries);
      }
      if (isNotRetryable(cause)) {
        return dead(ErrorText.of(error), tries);
      }
    }
    return failed(ErrorText.of(error), policy, tries);
  }

  /** The verdict on an attempt that failed for this reason. */
  public Verdict failed(String reason, Policy policy, Tries tries) {
    return countedAs(Verdict.Event.FAILURE, ErrorText.clean(reason), policy, tries);
  }

  /**
   * The verdict on an attempt whose process is gone. The first time that is nobody's fault, but the
   * message is suspected from then on; the next time it counts as a failure.
   *
   * @param suspect whether it was suspected before
   */
  public Verdict expired(boolean suspect, Policy policy, Tries tries) {
    String reason = "the lease ran out: the process is gone or was cut off from the database";
    return suspect
        ? countedAs(Verdict.Event.EXPIRED, reason, policy, tries)
        : Verdict.again(Verdict.Event.EXPIRED, tries, reason);
  }

  /** The verdict on a message that was taken, but has to wait for others of its key. */
  public Verdict deferred(Tries tries) {
    return Verdict.deferred(
        policies.group().deliveryLog() == DeliveryLogMode.ALL ? Verdict.Event.DEFERRED : null,
        tries);
  }

  /** One failure more: later, or never again. */
  private static Verdict countedAs(Verdict.Event event, String reason, Policy policy, Tries tries) {
    int failures = tries.failuresWithThis();
    return failures > policy.retry().maxRetries()
        ? Verdict.dead(event, tries, reason)
        : Verdict.retry(event, tries, backoff(policy, failures), reason);
  }

  private static @Nullable Outcome outcomeOf(OutcomeException thrown) {
    try {
      return thrown.outcome();
    } catch (Throwable e) {
      return null;
    }
  }

  /**
   * @param outcome what was thrown; null when it can't be told, which is a failure
   */
  private Verdict ended(@Nullable Outcome outcome, Throwable error, Policy policy, Tries tries) {
    if (outcome instanceof Outcome.Delay delay) {
      return delayed(delay.after(), ErrorText.of(error), policy, tries);
    }
    if (outcome == null || outcome instanceof Outcome.Failed) {
      return failed(ErrorText.of(error), policy, tries);
    }
    return returned(outcome, policy, tries);
  }

  private static Verdict delayed(
      Duration after, @Nullable String error, Policy policy, Tries tries) {
    int most = policy.retry().maxDelays();
    return tries.delays() >= most
        ? Verdict.dead(
            Verdict.Event.KILLED, tries, "the handler asked for more than " + most + " delays")
        : Verdict.delay(tries, after, error);
  }

  private static Verdict dead(@Nullable String reason, Tries tries) {
    return Verdict.dead(
        Verdict.Event.KILLED, tries, reason == null ? "no reason given" : ErrorText.clean(reason));
  }

  private boolean isNotRetryable(Throwable error) {
    return notRetryable.stream().anyMatch(kind -> kind.isInstance(error));
  }

  private static Duration backoff(Policy policy, int failures) {
    return Backoff.after(policy, failures, ThreadLocalRandom.current().nextDouble());
  }
}
