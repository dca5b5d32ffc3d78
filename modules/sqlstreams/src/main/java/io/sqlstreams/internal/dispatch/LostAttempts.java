package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.claim.ExceptionClaims;
import io.sqlstreams.internal.claim.ExpiredAttempt;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.outcome.Tries;
import io.sqlstreams.internal.outcome.Verdict;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Ends attempts at messages of the exception queue whose sessions are gone. Thread-safe. */
final class LostAttempts {
  private final ExceptionClaims claims;
  private final Judge judge;
  private final Policies policies;
  private final Outcomes outcomes;
  private final Counters counters;

  LostAttempts(ExceptionClaims claims, SessionParts parts) {
    this.claims = claims;
    this.judge = parts.judge();
    this.policies = parts.policies();
    this.outcomes = parts.outcomes();
    this.counters = parts.counters();
  }

  /**
   * Ends up to so many of them.
   *
   * @param held the tokens of this session, whose attempts run
   * @return whether there was one
   */
  boolean end(int most, Set<UUID> held) {
    List<FinishedMessage> lost = claims.expired(most, held).stream().map(this::judge).toList();
    Set<Long> ended = outcomes.finishExceptions(lost);
    counters.reclaimed.add(ended.size());
    counters.dead.add(
        lost.stream()
            .filter(message -> message.verdict().isDead() && ended.contains(message.id()))
            .count());
    return !ended.isEmpty();
  }

  private FinishedMessage judge(ExpiredAttempt lost) {
    Tries tries = new Tries(lost.attempts(), lost.delays(), lost.forgiven());
    Verdict verdict =
        lost.isFollower()
            ? Verdict.deferred(null, tries)
            : judge.expired(lost.suspect(), policies.of(lost.options()), tries);
    return new FinishedMessage(
        lost.messageId(), lost.key(), lost.concurrency(), lost.token(), verdict);
  }
}
