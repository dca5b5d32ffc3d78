package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.internal.claim.ClaimedException;
import io.sqlstreams.internal.claim.ClaimedRange;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.claim.ExceptionClaims;
import io.sqlstreams.internal.claim.ExpiredAttempt;
import io.sqlstreams.internal.claim.GroupGoneException;
import io.sqlstreams.internal.claim.Poll;
import io.sqlstreams.internal.claim.Reclaim;
import io.sqlstreams.internal.fence.Fence;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.outcome.FinishedMessage;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.outcome.Tries;
import io.sqlstreams.internal.outcome.Verdict;
import io.sqlstreams.internal.wake.Signal;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
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
  private final Pace pace;
  private final Counters counters;
  private final Judge judge;
  private final Policies policies;
  private final Outcomes outcomes;
  private final Supplier<Optional<GroupConfig>> settings;
  private final IntUnaryOperator claimSize;
  private final ConsumeOptions options;
  private final Signal news;
  private final Runnable groupGone;
  private final Loop loop;
  private final int mostHeld;
  private long shortWait = FIRST_WAIT_NANOS;
  private long settingsReadAt = System.nanoTime();
  private boolean exceptionsAreDue;

  /**
   * @param settings reads the group's settings; empty when it is gone
   * @param claimSize for how many messages the session should hold, how many one claim should take
   * @param groupGone is run when the group was destroyed
   */
  Fetcher(
      String name,
      Claims claims,
      ExceptionClaims exceptionClaims,
      Fence fence,
      LocalQueue queue,
      Holdings holdings,
      Pace pace,
      Counters counters,
      Judge judge,
      Policies policies,
      Outcomes outcomes,
      Supplier<Optional<GroupConfig>> settings,
      IntUnaryOperator claimSize,
      ConsumeOptions options,
      Signal news,
      Runnable groupGone) {
    this.claims = claims;
    this.exceptionClaims = exceptionClaims;
    this.fence = fence;
    this.queue = queue;
    this.holdings = holdings;
    this.pace = pace;
    this.counters = counters;
    this.judge = judge;
    this.policies = policies;
    this.outcomes = outcomes;
    this.settings = settings;
    this.claimSize = claimSize;
    this.options = options;
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
    refreshSettings();
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
    found |= poll.exceptionExpiresInMicros() <= 0 && expireExceptions(held);
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

  /** A new declaration reaches a running session here. */
  private void refreshSettings() {
    long now = System.nanoTime();
    if (now - settingsReadAt < options.configRefreshInterval().toNanos()) {
      return;
    }
    settingsReadAt = now;
    try {
      settings.get().ifPresent(this::follow);
    } catch (DatabaseException e) {
      throw e;
    } catch (RuntimeException e) {
      log.warn(
          "{}: the group's settings can't be read, those from before still hold: {}",
          loop.name(),
          e.toString());
    }
  }

  private void follow(GroupConfig read) {
    if (!read.equals(policies.group())) {
      log.info("{}: new settings: {} -> {}", loop.name(), policies.group(), read);
      policies.set(read);
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

  private boolean expireExceptions(Set<UUID> held) {
    List<FinishedMessage> lost =
        exceptionClaims.expired(options.maxClaim(), held).stream().map(this::judgeLost).toList();
    Set<Long> ended = outcomes.finishExceptions(lost);
    counters.reclaimed.add(ended.size());
    counters.dead.add(
        lost.stream()
            .filter(message -> message.verdict().isDead() && ended.contains(message.id()))
            .count());
    return !ended.isEmpty();
  }

  private FinishedMessage judgeLost(ExpiredAttempt lost) {
    Verdict verdict =
        judge.expired(
            lost.suspect(),
            policies.of(lost.options()),
            new Tries(lost.attempts(), lost.delays(), lost.forgiven()));
    return new FinishedMessage(lost.messageId(), lost.key(), lost.token(), verdict);
  }

  private boolean takeExceptions(int most, boolean takeSuspect) {
    long heldUntil = holdings.leaseFromNow();
    List<ClaimedException> taken = exceptionClaims.claimDue(most, takeSuspect);
    taken.forEach(exception -> accept(Work.of(exception, heldUntil)));
    return !taken.isEmpty();
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
