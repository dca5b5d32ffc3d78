package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.internal.claim.ClaimedException;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.claim.ExceptionClaims;
import io.sqlstreams.internal.claim.GroupGoneException;
import io.sqlstreams.internal.claim.Poll;
import io.sqlstreams.internal.claim.Reclaim;
import io.sqlstreams.internal.fence.Fence;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.outcome.Tries;
import io.sqlstreams.internal.outcome.Verdict;
import io.sqlstreams.internal.wake.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the queue filled: claims fresh messages while there is room, takes over what dead sessions
 * left, takes exceptions whose time has come, and waits when there is nothing of all that. One
 * statement tells it everything.
 */
final class Fetcher {
  private static final Logger log = LoggerFactory.getLogger(Fetcher.class);
  private static final long FIRST_WAIT_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private static final int SPARE_RANGES = 4;

  private final Claims claims;
  private final ExceptionClaims exceptionClaims;
  private final Fence fence;
  private final LocalQueue queue;
  private final Holdings holdings;
  private final Counters counters;
  private final Policies policies;
  private final Outcomes outcomes;
  private final ConsumeOptions options;
  private final Pace pace;
  private final SettingsRefresh settings;
  private final LostAttempts lostAttempts;
  private final IntUnaryOperator claimSize;
  private final Signal news;
  private final Runnable groupGone;
  private final Loop loop;
  private final int mostHeld;
  private long shortWait = FIRST_WAIT_NANOS;
  private boolean exceptionsAreDue;

  /**
   * @param claimSize for how many messages the session should hold, how many one claim should take
   * @param groupGone is run when the group was destroyed
   */
  Fetcher(
      String name,
      Claims claims,
      ExceptionClaims exceptionClaims,
      Fence fence,
      SessionParts parts,
      Pace pace,
      SettingsRefresh settings,
      IntUnaryOperator claimSize,
      Signal news,
      Runnable groupGone) {
    this.claims = claims;
    this.exceptionClaims = exceptionClaims;
    this.fence = fence;
    this.queue = parts.queue();
    this.holdings = parts.holdings();
    this.counters = parts.counters();
    this.policies = parts.policies();
    this.outcomes = parts.outcomes();
    this.options = parts.options();
    this.pace = pace;
    this.settings = settings;
    this.lostAttempts = new LostAttempts(exceptionClaims, parts);
    this.claimSize = claimSize;
    this.news = news;
    this.groupGone = groupGone;
    // each running handler can keep a whole range open; more than that means that results can't be
    // recorded
    this.mostHeld =
        options.prefetchMessages() + (options.handlers() + SPARE_RANGES) * options.maxClaim();
    this.loop = new Loop(name, this::turn);
  }

  void start() {
    loop.start();
  }

  /** Claims nothing more; returns when the last claim has ended. */
  void stop() {
    loop.requestStop();
    news.set();
    loop.stop();
  }

  private void turn() throws InterruptedException {
    settings.run();
    int room = room();
    if (room == 0) {
      news.await(options.pollInterval().toNanos());
      return;
    }
    boolean takeSuspect = !holdings.haveSuspect();
    Set<UUID> held = holdings.tokens();
    long heldUntil = holdings.leaseFromNow();
    // what is due and what is fresh get half each while there is both
    int freshRoom = exceptionsAreDue ? Math.max(1, room / 2) : room;
    Poll poll;
    try {
      poll =
          claims.claim(
              freshRoom, Math.max(1, options.prefetchBytes() - queue.bytes()), takeSuspect, held);
    } catch (GroupGoneException e) {
      log.error("{}", e.getMessage());
      loop.requestStop();
      groupGone.run();
      return;
    }
    int fresh = 0;
    if (poll.range() != null) {
      fresh = poll.range().messages().size();
      accept(poll.range(), heldUntil);
    }
    exceptionsAreDue = poll.exceptionDueInMicros() <= 0;
    boolean found = poll.moved();
    found |= poll.leaseExpiresInMicros() <= 0 && reclaim(held);
    found |= poll.exceptionExpiresInMicros() <= 0 && lostAttempts.end(options.maxClaim(), held);
    found |=
        exceptionsAreDue
            && takeExceptions(
                Math.max(Math.min(room, options.handlers()), room - fresh), takeSuspect);
    if (found) {
      shortWait = FIRST_WAIT_NANOS;
    } else {
      rest(poll);
    }
  }

  /** How many messages to claim now; 0 when enough is at hand. */
  private int room() {
    int waiting = queue.messages();
    int idle = queue.idle();
    int target = pace.target();
    queue.wakeAt(target / 2);
    boolean full = queue.bytes() >= options.prefetchBytes() && waiting > 0;
    boolean enough = waiting > target / 2 && waiting >= idle;
    if (full || enough || holdings.messages() >= mostHeld) {
      return 0;
    }
    int wanted = Math.max(target, idle) - waiting;
    int most = Math.min(options.maxClaim(), claimSize.applyAsInt(target));
    return Math.max(1, Math.min(most, wanted));
  }

  private void accept(ClaimedRange range, long heldUntil) {
    counters.claimed.add(range.messages().size());
    accept(Work.of(range, heldUntil));
  }

  private void accept(Work work) {
    holdings.add(work);
    queue.add(work);
  }

  private boolean reclaim(Set<UUID> held) {
    long heldUntil = holdings.leaseFromNow();
    int maxRangeReclaims = policies.group().maxRangeReclaims();
    Reclaim reclaim = claims.reclaim(held, maxRangeReclaims);
    if (!reclaim.found()) {
      return false;
    }
    counters.reclaimed.increment();
    counters.quarantined.add(reclaim.quarantined());
    if (reclaim.range() != null) {
      accept(reclaim.range(), heldUntil);
    } else if (reclaim.quarantined() > 0) {
      log.warn(
          "{} messages go on one by one: their range was taken over from dead processes more than {} times",
          reclaim.quarantined(),
          maxRangeReclaims);
    }
    return true;
  }

  private boolean takeExceptions(int most, boolean takeSuspect) {
    long heldUntil = holdings.leaseFromNow();
    List<ClaimedException> taken = exceptionClaims.claimDue(most, takeSuspect);
    List<FinishedMessage> superseded = new ArrayList<>();
    for (ClaimedException exception : taken) {
      if (exception.winner() == null) {
        accept(Work.of(exception, heldUntil));
      } else {
        superseded.add(supersede(exception));
      }
    }
    // should it fail, their leases run out and they are looked at again
    outcomes.finishExceptions(superseded);
    return !taken.isEmpty();
  }

  private static FinishedMessage supersede(ClaimedException exception) {
    Tries tries = new Tries(exception.attempts(), exception.delays(), exception.forgiven());
    return new FinishedMessage(
        exception.messageId(),
        null,
        exception.token(),
        Verdict.superseded(tries, exception.reason()));
  }

  /** Nothing was taken: ends what can be proven or advanced, else waits for news. */
  private void rest(Poll poll) throws InterruptedException {
    if (poll.committedLags()) {
      claims.advanceCommitted();
    }
    boolean soon = poll.isBehind() || poll.nextInMicros() <= 0;
    if (poll.atGap() && fence.prove(poll.claimed())) {
      return;
    }
    if (soon) {
      // a writer is about to end, or another session was faster or is at what is due
      news.await(shortWait);
      shortWait = Math.min(2 * shortWait, options.pollInterval().toNanos());
    } else {
      shortWait = FIRST_WAIT_NANOS;
      news.await(nanosToNextPoll(poll));
    }
  }

  private long nanosToNextPoll(Poll poll) {
    long due = TimeUnit.MICROSECONDS.toNanos(poll.nextInMicros());
    return Math.min(options.pollInterval().toNanos(), Math.max(due, FIRST_WAIT_NANOS));
  }
}
