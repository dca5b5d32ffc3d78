package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.internal.claim.ClaimTerms;
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
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
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

  /**
   * How often a group is looked at that other sessions work on, or in which messages wait for each
   * other: what the others do is announced to nobody while they live, and they may die.
   */
  private static final long BUSY_NANOS = TimeUnit.SECONDS.toNanos(1);

  /**
   * The longest wait for a time that the database has told: this process's measure of time stands
   * still while its machine does.
   */
  private static final long LONGEST_NANOS = TimeUnit.MINUTES.toNanos(5);

  private static final int SPARE_RANGES = 4;

  private final Claims claims;
  private final ExceptionClaims exceptionClaims;
  private final Fence fence;
  private final LocalQueue queue;
  private final HandlerPool handlers;
  private final Holdings holdings;
  private final Completer completer;
  private final Counters counters;
  private final Policies policies;
  private final Outcomes outcomes;
  private final ConsumeOptions options;
  private final Pace pace;
  private final LostAttempts lostAttempts;
  private final Runner runner;
  private final Signal news;
  private final Runnable groupGone;
  private final Loop loop;
  private final int mostHeld;
  private long shortWait = FIRST_WAIT_NANOS;
  private boolean exceptionsAreDue;
  private boolean metOrder;
  private long wokenAt = System.nanoTime();
  private @Nullable String wokenUpTo;

  /**
   * @param groupGone is run when the group was destroyed
   */
  Fetcher(
      String name,
      Claims claims,
      ExceptionClaims exceptionClaims,
      Fence fence,
      SessionParts parts,
      HandlerPool handlers,
      Pace pace,
      Runner runner,
      Signal news,
      Runnable groupGone) {
    this.claims = claims;
    this.exceptionClaims = exceptionClaims;
    this.fence = fence;
    this.queue = parts.queue();
    this.handlers = handlers;
    this.holdings = parts.holdings();
    this.completer = parts.completer();
    this.counters = parts.counters();
    this.policies = parts.policies();
    this.outcomes = parts.outcomes();
    this.options = parts.options();
    this.pace = pace;
    this.lostAttempts = new LostAttempts(exceptionClaims, parts);
    this.runner = runner;
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
    int room = room();
    if (room == 0) {
      news.await(options.pollInterval().toNanos());
      return;
    }
    boolean takeSuspect = !holdings.haveSuspect();
    ClaimTerms terms = terms();
    boolean locks = keepsOrder();
    long heldUntil = holdings.leaseFromNow();
    // what is due and what is fresh get half each while there is both
    int freshRoom = exceptionsAreDue ? Math.max(1, room / 2) : room;
    Poll poll;
    queue.beginClaim();
    try {
      poll =
          claims.claim(
              freshRoom,
              Math.max(1, options.prefetchBytes() - queue.bytes()),
              takeSuspect,
              locks,
              terms);
    } catch (GroupGoneException e) {
      log.error("{}", e.getMessage());
      loop.requestStop();
      groupGone.run();
      return;
    }
    queue.endClaim();
    metOrder |= poll.needsLock();
    counters.deferred.add(poll.deferred());
    int fresh = 0;
    if (poll.range() != null) {
      fresh = poll.range().messages().size();
      accept(poll.range(), heldUntil);
    }
    exceptionsAreDue = poll.exceptionDueInMicros() <= 0;
    boolean found = poll.moved() || (poll.needsLock() && !locks);
    found |= poll.leaseExpiresInMicros() <= 0 && reclaim();
    found |=
        poll.exceptionExpiresInMicros() <= 0
            && lostAttempts.end(options.maxClaim(), holdings.tokens());
    found |=
        exceptionsAreDue
            && takeExceptions(
                Math.max(Math.min(room, options.handlers()), room - fresh), takeSuspect);
    if (poll.someWait()) {
      wakeWaiting();
    }
    if (found) {
      shortWait = FIRST_WAIT_NANOS;
    } else {
      rest(poll);
    }
  }

  /** Whether messages of a key may have to wait for each other. */
  private boolean keepsOrder() {
    return metOrder || policies.keepsOrder();
  }

  private ClaimTerms terms() {
    GroupConfig group = policies.group();
    return new ClaimTerms(
        group.concurrency(),
        group.concurrencyOverride(),
        group.deliveryLog(),
        holdings.tokens(),
        holdings.chained());
  }

  private Work.Order order() {
    return !keepsOrder()
        ? Work.Order.NONE
        : runner.keepsOrder() ? Work.Order.SESSION : Work.Order.DATABASE;
  }

  /** How many messages to claim now; 0 when enough is at hand. */
  private int room() {
    int waiting = queue.messages();
    int idle = handlers.idle();
    int target = pace.target();
    queue.wakeAt(target / 2);
    boolean full = queue.bytes() >= options.prefetchBytes() && waiting > 0;
    boolean enough = waiting > target / 2 && waiting >= idle;
    if (full || enough || holdings.messages() >= mostHeld) {
      return 0;
    }
    int wanted = Math.max(target, idle) - waiting;
    int most = Math.min(options.maxClaim(), runner.claimSize(target));
    return Math.max(1, Math.min(most, wanted));
  }

  private void accept(ClaimedRange range, long heldUntil) {
    counters.claimed.add(range.messages().size());
    accept(List.of(Work.of(range, order(), heldUntil)));
  }

  private void accept(List<Work> works) {
    works.forEach(holdings::add);
    if (!works.isEmpty()) {
      handlers.start();
    }
    completer.putAside(queue.add(works));
  }

  private boolean reclaim() {
    long heldUntil = holdings.leaseFromNow();
    int maxRangeReclaims = policies.group().maxRangeReclaims();
    queue.beginClaim();
    Reclaim reclaim = claims.reclaim(maxRangeReclaims, terms());
    queue.endClaim();
    counters.deferred.add(reclaim.deferred());
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
    queue.beginClaim();
    List<ClaimedException> taken = exceptionClaims.claimDue(most, takeSuspect, runner.keepsOrder());
    queue.endClaim();
    accept(
        taken.stream()
            .filter(exception -> exception.winner() == null)
            .map(exception -> Work.of(exception, order(exception), heldUntil))
            .toList());
    // should it fail, their leases run out and they are looked at again
    outcomes.finishExceptions(
        taken.stream()
            .filter(exception -> exception.winner() != null)
            .map(Fetcher::supersede)
            .toList());
    return !taken.isEmpty();
  }

  private static FinishedMessage supersede(ClaimedException exception) {
    Tries tries = new Tries(exception.attempts(), exception.delays(), exception.forgiven());
    return new FinishedMessage(
        exception.messageId(),
        exception.key(),
        exception.concurrency(),
        exception.token(),
        Verdict.superseded(tries, exception.reason()));
  }

  /** One that waited for others of its key is in their order whatever the settings are by now. */
  private Work.Order order(ClaimedException exception) {
    boolean isFree = exception.concurrency() == Concurrency.PARALLEL;
    return !isFree && runner.keepsOrder() ? Work.Order.SESSION : order();
  }

  /** Makes good for turns that nobody has announced, now and then. */
  private void wakeWaiting() {
    long now = System.nanoTime();
    if (now - wokenAt >= BUSY_NANOS) {
      wokenAt = now;
      wokenUpTo = exceptionClaims.wake(wokenUpTo);
    }
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
      long longest = Math.min(options.pollInterval().toNanos(), BUSY_NANOS);
      shortWait = Math.min(2 * shortWait, longest);
    } else {
      shortWait = FIRST_WAIT_NANOS;
      news.await(nanosToNextPoll(poll));
    }
  }

  /** Until the next thing that is known to come. An idle group waits for news alone. */
  private static long nanosToNextPoll(Poll poll) {
    if (poll.isIdle()) {
      return Long.MAX_VALUE;
    }
    long most = poll.someWait() || poll.othersWork() ? BUSY_NANOS : LONGEST_NANOS;
    long due = TimeUnit.MICROSECONDS.toNanos(poll.nextInMicros());
    return Math.min(most, Math.max(due, FIRST_WAIT_NANOS));
  }
}
