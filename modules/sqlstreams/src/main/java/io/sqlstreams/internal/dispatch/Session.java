package io.sqlstreams.internal.dispatch;

import io.sqlstreams.Consumption;
import io.sqlstreams.ConsumptionCounters;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.internal.claim.Claimant;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.claim.ExceptionClaims;
import io.sqlstreams.internal.fence.Fence;
import io.sqlstreams.internal.lease.Heartbeat;
import io.sqlstreams.internal.lease.LeaseRenewal;
import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import io.sqlstreams.internal.outcome.Judge;
import io.sqlstreams.internal.outcome.Outcomes;
import io.sqlstreams.internal.outcome.Policies;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.wake.Signal;
import io.sqlstreams.internal.wake.Wakeups;
import io.sqlstreams.internal.wake.Watched;
import io.sqlstreams.internal.wake.Watcher;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One running consumption: a fetcher fills the queue, handlers empty it, a completer records the
 * results, and the process's heartbeat keeps the leases, from before the first claim until after
 * the last result.
 */
public final class Session implements Consumption, Watched {
  private static final Logger log = LoggerFactory.getLogger(Session.class);

  private final String subject;
  private final long stream;
  private final long group;
  private final ConsumeOptions options;
  private final SettingsRefresh settings;
  private final Heartbeat heartbeat;
  private final Wakeups wakeups;
  private final Watcher watcher;
  private final LongConsumer announce;
  private final Consumer<Session> atEnd;
  private final Signal news = new Signal();
  private final Counters counters = new Counters();
  private final LocalQueue queue;
  private final Holdings holdings;
  private final Completer completer;
  private final HandlerPool handlers;
  private final Fetcher fetcher;
  private final AtomicBoolean stopAsked = new AtomicBoolean();
  private final CountDownLatch stopped = new CountDownLatch(1);

  /**
   * @param announce is given the stream's id when there is something for other sessions
   * @param handlers how the handler is run
   * @param atEnd takes this session when it has stopped
   */
  public Session(
      Database database,
      Scope scope,
      Heartbeat heartbeat,
      Wakeups wakeups,
      Watcher watcher,
      LongConsumer announce,
      StreamInfo stream,
      GroupInfo group,
      Runner.Factory handlers,
      ConsumeOptions options,
      Consumer<Session> atEnd) {
    this.subject = "group \"" + group.name() + "\" of stream \"" + stream.name() + "\"";
    this.stream = stream.id();
    this.heartbeat = heartbeat;
    this.wakeups = wakeups;
    this.watcher = watcher;
    this.announce = announce;
    this.options = options;
    this.group = group.id();
    this.atEnd = atEnd;
    String name = "sqlstreams-" + stream.name() + "-" + group.name();
    Claimant claimant = new Claimant(group.id(), UUID.randomUUID(), options.lease());
    Policies policies = new Policies(group.config());
    this.settings = new SettingsRefresh(subject, policies);
    Judge judge = new Judge(policies, options.notRetryable());
    Pace pace = new Pace(options.handlers(), options.prefetchMessages());
    this.queue = new LocalQueue(news, options.prefetchBytes());
    Outcomes outcomes = new Outcomes(database, scope, subject, group.id(), policies);
    this.holdings =
        new Holdings(
            new LeaseRenewal(scope, group.id(), options.lease()),
            options.heartbeat(),
            options.lease());
    this.completer =
        new Completer(name + "-completer", outcomes, holdings, queue, judge, counters, news::set);
    SessionParts parts =
        new SessionParts(
            subject,
            database,
            options,
            policies,
            judge,
            outcomes,
            queue,
            holdings,
            completer,
            counters,
            wakeups::wakeAll);
    Runner runner = handlers.create(parts);
    this.handlers = new HandlerPool(name, options.handlers(), runner, parts, pace);
    this.fetcher =
        new Fetcher(
            name + "-fetcher",
            new Claims(database, scope, subject, claimant),
            new ExceptionClaims(database, scope, subject, claimant),
            new Fence(database, scope, subject, group.id()),
            parts,
            this.handlers,
            pace,
            runner,
            news,
            this::requestStop);
  }

  /** Begins; when that fails, since the database can't be reached, nothing runs. */
  public void start() {
    heartbeat.join(holdings);
    // both before the first claim: what becomes visible after that is announced
    wakeups.register(stream, news);
    watcher.join(this);
    fetcher.start();
  }

  /** Whether it has stopped. */
  public boolean isStopped() {
    return stopped.getCount() == 0;
  }

  /** Asks for the stop without waiting for it. */
  public void requestStop() {
    if (stopAsked.compareAndSet(false, true)) {
      queue.close();
      new Thread(this::shutDown, "sqlstreams-stop").start();
    }
  }

  @Override
  public void stop() {
    requestStop();
    if (!handlers.isHandler(Thread.currentThread())) {
      Uninterruptibly.run(stopped::await);
    }
  }

  @Override
  public void close() {
    stop();
  }

  @Override
  public void awaitStopped() throws InterruptedException {
    stopped.await();
  }

  @Override
  public boolean awaitStopped(Duration atMost) throws InterruptedException {
    return stopped.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
  }

  @Override
  public long stream() {
    return stream;
  }

  @Override
  public long group() {
    return group;
  }

  @Override
  public Duration pollInterval() {
    return options.pollInterval();
  }

  @Override
  public Duration settingsInterval() {
    return options.configRefreshInterval();
  }

  @Override
  public void wake() {
    news.set();
  }

  @Override
  public void changed(@Nullable String document) {
    settings.accept(document);
  }

  @Override
  public ConsumptionCounters counters() {
    return counters.snapshot();
  }

  private void shutDown() {
    try {
      queue.close();
      fetcher.stop();
      handlers.stop();
      List<Work> rest = holdings.unfinished();
      completer.stop(rest);
      if (!rest.isEmpty()) {
        announce.accept(stream);
      }
    } catch (RuntimeException e) {
      log.warn(
          "{} stopped, but its last results could not be recorded; those messages will be delivered again: {}",
          subject,
          e.toString());
    } finally {
      watcher.leave(this);
      wakeups.deregister(stream, news);
      heartbeat.leave(holdings);
      atEnd.accept(this);
      stopped.countDown();
    }
  }
}
