package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;
import java.time.Duration;

/**
 * How often and when a message is tried again. The first retry comes after {@code initialBackoff};
 * the n-th after {@code base * exponent^(n-1)}. Every wait is kept between {@link #MIN_BACKOFF} and
 * {@code cap} and then shortened or lengthened at random by up to {@code jitter} of it, within the
 * same bounds. Immutable.
 *
 * @param maxRetries retries after the first failure, from 0 to {@link #UNLIMITED}; defaults to
 *     {@value #DEFAULT_MAX_RETRIES}; a message that fails once more is dead
 * @param initialBackoff the wait before the first retry, 0 or above and at most {@code cap};
 *     defaults to 5 s
 * @param base the first factor of the later waits, 0 or above; defaults to 1 s
 * @param exponent the growth of the later waits from one to the next, 1 or above; defaults to 2
 * @param cap the longest wait, at least {@link #MIN_BACKOFF}; defaults to 5 min
 * @param jitter the part of a wait by which chance changes it, from 0 (none) to 1; defaults to
 *     {@value #DEFAULT_JITTER}
 * @param maxDelays how many times a message may ask for a delay, from 0 to {@link #UNLIMITED}, the
 *     default; a message that asks once more is dead
 */
public record RetryPolicy(
    int maxRetries,
    Duration initialBackoff,
    Duration base,
    double exponent,
    Duration cap,
    double jitter,
    int maxDelays) {
  /** As often as it takes. */
  public static final int UNLIMITED = Integer.MAX_VALUE;

  /** Three retries: four attempts in all. */
  public static final int DEFAULT_MAX_RETRIES = 3;

  /** 5 seconds. */
  public static final Duration DEFAULT_INITIAL_BACKOFF = Duration.ofSeconds(5);

  /** 1 second. */
  public static final Duration DEFAULT_BASE = Duration.ofSeconds(1);

  /** Each wait is twice the one before. */
  public static final double DEFAULT_EXPONENT = 2;

  /** 5 minutes. */
  public static final Duration DEFAULT_CAP = Duration.ofMinutes(5);

  /** A fifth. */
  public static final double DEFAULT_JITTER = 0.2;

  /** No limit. */
  public static final int DEFAULT_MAX_DELAYS = UNLIMITED;

  /** 10 milliseconds: no setting makes a retry come sooner, so a failing message can't spin. */
  public static final Duration MIN_BACKOFF = Duration.ofMillis(10);

  private static final RetryPolicy DEFAULTS =
      new RetryPolicy(
          DEFAULT_MAX_RETRIES,
          DEFAULT_INITIAL_BACKOFF,
          DEFAULT_BASE,
          DEFAULT_EXPONENT,
          DEFAULT_CAP,
          DEFAULT_JITTER,
          DEFAULT_MAX_DELAYS);

  /**
   * @throws InvalidInputException when a value is outside its range, or two contradict each other
   */
  public RetryPolicy {
    Numbers.requireNotNegative("maxRetries", maxRetries);
    Durations.requireNotNegative("initialBackoff", initialBackoff);
    Durations.requireNotNegative("base", base);
    if (!(exponent >= 1) || Double.isInfinite(exponent)) {
      throw new InvalidInputException(
          "exponent", "must be a finite number of 1 or above, not " + exponent);
    }
    Durations.requireAtLeast("cap", cap, MIN_BACKOFF);
    if (!(jitter >= 0 && jitter <= 1)) {
      throw new InvalidInputException("jitter", "must be from 0 to 1, not " + jitter);
    }
    Numbers.requireNotNegative("maxDelays", maxDelays);
    if (initialBackoff.compareTo(cap) > 0) {
      throw new InvalidInputException(
          "initialBackoff",
          initialBackoff + " is above the cap of " + cap + ": lower it or raise the cap");
    }
  }

  /** Every setting at its default. */
  public static RetryPolicy defaults() {
    return DEFAULTS;
  }

  /** This policy with another number of retries after the first failure. */
  public RetryPolicy withMaxRetries(int maxRetries) {
    return new RetryPolicy(maxRetries, initialBackoff, base, exponent, cap, jitter, maxDelays);
  }

  /** This policy with another wait before the first retry. */
  public RetryPolicy withInitialBackoff(Duration initialBackoff) {
    return new RetryPolicy(maxRetries, initialBackoff, base, exponent, cap, jitter, maxDelays);
  }

  /**
   * This policy with other waits before the later retries: {@code base * exponent^(n-1)} before the
   * n-th.
   */
  public RetryPolicy withBackoff(Duration base, double exponent) {
    return new RetryPolicy(maxRetries, initialBackoff, base, exponent, cap, jitter, maxDelays);
  }

  /** This policy with another longest wait. */
  public RetryPolicy withCap(Duration cap) {
    return new RetryPolicy(maxRetries, initialBackoff, base, exponent, cap, jitter, maxDelays);
  }

  /** This policy with another share of chance in each wait. */
  public RetryPolicy withJitter(double jitter) {
    return new RetryPolicy(maxRetries, initialBackoff, base, exponent, cap, jitter, maxDelays);
  }

  /** This policy with another number of delays. */
  public RetryPolicy withMaxDelays(int maxDelays) {
    return new RetryPolicy(maxRetries, initialBackoff, base, exponent, cap, jitter, maxDelays);
  }
}
