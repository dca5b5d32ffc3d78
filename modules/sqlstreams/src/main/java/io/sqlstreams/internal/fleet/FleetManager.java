package io.sqlstreams.internal.fleet;

import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.lifecycle.Uninterruptibly;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.wake.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The part that a process takes in the fleet: it takes workers that are free, keeps them, has their
 * duties done, and gives them back when it stops. One thread, beside one for each duty; it takes a
 * connection from the pool for one statement at a time. What it costs while nothing happens doesn't
 * grow with the number of workers: a statement for each look, one for each renewal. Thread-safe.
 */
public final class FleetManager {
  private static final Logger log = LoggerFactory.getLogger(FleetManager.class);
  private static final Duration SWEEP_INTERVAL = Duration.ofMinutes(1);

  private final Database database;
  private final Declarations declarations;
  private final FleetTiming timing;
  private final Roster roster;
  private final Map<String, Crew> crews = new HashMap<>();
  private final Map<Long, HeldPost> posts = new ConcurrentHashMap<>();
  private final Signal news = new Signal();
  private final Loop loop;
  private final AtomicBoolean stopAsked = new AtomicBoolean();
  private final CompletableFuture<@Nullable Void> stopped = new CompletableFuture<>();
  private volatile long looks;
  private boolean declared;
  private long nextLook = System.nanoTime();
  private long nextSweep = nextLook;

  /**
   * @param duties what this process knows to do; it takes no other workers
   */
  public FleetManager(
      Database database, Scope system, Collection<? extends Duty> duties, FleetTiming timing) {
    this.database = database;
    this.declarations = new Declarations(system);
    this.timing = timing;
    this.roster = new Roster(database, system, timing.lease());
    for (Duty duty : duties) {
      crews.put(duty.name(), new Crew(duty, timing, news::set));
    }
    this.loop = new Loop("sqlstreams-manager", this::turn);
  }

  /** Begins; doesn't wait for the database. */
  public void start() {
    loop.start();
  }

  /** Asks for the stop without waiting for it. */
  public void requestStop() {
    if (stopAsked.compareAndSet(false, true)) {
      loop.requestStop();
      news.set();
      new Thread(this::shutDown, "sqlstreams-manager-stop").start();
    }
  }

  /**
   * Takes nothing more, interrupts the turns that run, waits for them, and gives back what is held,
   * so that others can take it at once. What belongs to a turn that goes on for longer than {@link
   * FleetTiming#stopWait} is kept until its lease has run out. From a duty it only asks for it.
   */
  public void stop() {
    requestStop();
    if (!isAtWorkHere()) {
      Uninterruptibly.run(this::awaitStopped);
    }
  }

  /** Whether the current thread does one of its duties, and so can't wait for their end. */
  boolean isAtWorkHere() {
    return crews.values().stream().anyMatch(Crew::isCurrentThread);
  }

  /** Completes when it has stopped. */
  public CompletableFuture<@Nullable Void> stopped() {
    return stopped;
  }

  private void awaitStopped() throws InterruptedException {
    try {
      stopped.get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e); // it is never completed with one
    }
  }

  private void turn() throws InterruptedException {
    news.await(nextLook - System.nanoTime());
    if (loop.isStopping()) {
      return;
    }
    if (!declared) {
      declarations.ofAll(database);
      declared = true;
    }
    renew();
    if (nextLook - System.nanoTime() <= 0) {
      int claimed = look();
      if (claimed < Roster.CLAIM) {
        nextLook = System.nanoTime() + timing.look().toNanos();
      }
      sweep();
    }
    release();
  }

  /**
   * All that is due for it, with those that will be before long: so they go together the next time.
   */
  private void renew() {
    long now = System.nanoTime();
    List<HeldPost> due = which(post -> post.isDueForRenewal(now - timing.renewal().toNanos()));
    if (due.isEmpty()) {
      return;
    }
    List<HeldPost> lost =
        roster.renew(which(p -> p.isDueForRenewal(now - timing.renewal().toNanos() / 2)));
    if (!lost.isEmpty()) {
      report(lost);
      lost.forEach(this::forget);
    }
  }

  /** One line for all: after a long fault of the database that is everything that was held. */
  private static void report(List<HeldPost> lost) {
    if (lost.stream().allMatch(HeldPost::isHeld)) {
      log.info("{} workers were destroyed, the first of them {}", lost.size(), lost.get(0));
    } else {
      log.warn(
          "{} workers were taken over, since they weren't renewed in time, the first of them {}",
          lost.size(),
          lost.get(0));
    }
  }

  /** How often it has looked for workers. */
  long looks() {
    return looks;
  }

  /** Gives how many it has taken. */
  private int look() {
    Roster.Found found =
        roster.look(
            crews.keySet(), which(HeldPost::isShared).stream().map(HeldPost::instance).toList());
    Map<Long, HeldPost> held =
        posts.values().stream()
            .collect(
                Collectors.toMap(
                    HeldPost::worker,
                    Function.identity(),
                    (one, other) -> one.isShared() ? one : other));
    Map<Crew, List<HeldPost>> joining = new HashMap<>();
    for (HeldPost post : found.claimed()) {
      posts.put(post.instance(), post);
      @Nullable HeldPost first = held.get(post.worker());
      if (first == null) {
        joining.computeIfAbsent(crew(post), crew -> new ArrayList<>()).add(post);
      } else {
        // it was for one process when it was taken, and isn't any more
        first.share();
        post.letGo();
      }
    }
    joining.forEach(Crew::addAll);
    which(post -> found.ended().contains(post.instance())).forEach(HeldPost::letGo);
    looks++;
    return found.claimed().size();
  }

  private Crew crew(HeldPost post) {
    return Objects.requireNonNull(crews.get(post.name()), post.name());
  }

  private void release() {
    List<HeldPost> leaving = which(HeldPost::isLeaving);
    if (!leaving.isEmpty()) {
      roster.release(leaving);
      leaving.forEach(this::forget);
    }
  }

  /** A batch at a time, beside everything else: no faster than a look. */
  private void sweep() {
    if (nextSweep - System.nanoTime() <= 0 && roster.sweep(timing.logRetention()) < Roster.SWEEP) {
      nextSweep = System.nanoTime() + SWEEP_INTERVAL.toNanos();
    }
  }

  private List<HeldPost> which(Predicate<HeldPost> predicate) {
    return posts.values().stream().filter(predicate).toList();
  }

  private void forget(HeldPost post) {
    post.letGo();
    posts.remove(post.instance());
    crew(post).remove(post);
  }

  private void shutDown() {
    try {
      posts.values().forEach(HeldPost::letGo);
      crews.values().forEach(Crew::requestStop);
      loop.stop();
      posts.values().forEach(HeldPost::letGo);
      long end = System.nanoTime() + timing.stopWait().toNanos();
      List<Crew> late = new ArrayList<>();
      for (Crew crew : crews.values()) {
        if (!crew.awaitStopped(end - System.nanoTime())) {
          late.add(crew);
        }
      }
      if (!late.isEmpty()) {
        log.warn(
            "{} still at work {} after the stop; what they work on stays theirs until its lease runs out",
            late,
            timing.stopWait());
      }
      release();
    } catch (SqlStreamsException e) {
      log.warn(
          "the manager stopped, but its workers could not be given back; others take them in {}: {}",
          timing.lease(),
          e.getMessage());
    } finally {
      stopped.complete(null);
    }
  }
}
