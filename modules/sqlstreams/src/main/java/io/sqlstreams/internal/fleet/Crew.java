package io.sqlstreams.internal.fleet;

import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.wake.Signal;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The workers of one name that a process holds, and the thread that does their duty. The thread
 * begins with the first of them. Thread-safe.
 */
final class Crew {
  private static final Logger log = LoggerFactory.getLogger(Crew.class);
  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Duty duty;
  private final FleetTiming timing;
  private final Runnable atNews;
  private final Set<HeldPost> posts = ConcurrentHashMap.newKeySet();
  private final Signal changed = new Signal();
  private final Loop loop;

  /**
   * @param atNews is called after a turn of which there is something to record, or to give back
   */
  Crew(Duty duty, FleetTiming timing, Runnable atNews) {
    this.duty = duty;
    this.timing = timing;
    this.atNews = atNews;
    this.loop = new Loop("sqlstreams-" + duty.name(), this::turn);
  }

  /** These join; they have their first turn together, at once. */
  void addAll(Collection<HeldPost> joining) {
    posts.addAll(joining);
    loop.start();
    changed.set();
  }

  void remove(HeldPost post) {
    posts.remove(post);
  }

  /** Begins nothing more, and interrupts the turn that runs. */
  void requestStop() {
    loop.requestStop();
    loop.interrupt();
  }

  /**
   * Waits for the end of the turn that runs, after {@link #requestStop}.
   *
   * @return whether it has ended
   */
  boolean awaitStopped(long nanos) {
    return loop.awaitStopped(nanos);
  }

  /** Whether this is the thread that does the duty. */
  boolean isCurrentThread() {
    return loop.isCurrentThread();
  }

  @Override
  public String toString() {
    return duty.name();
  }

  private void turn() throws InterruptedException {
    long now = System.nanoTime();
    if (posts.stream().noneMatch(post -> post.isHeld() && post.nextTurn() - now <= 0)) {
      changed.await(nanosToNextTurn(now));
      return;
    }
    // what is due soon comes along: workers that were taken one by one end up in one turn
    long soon = now + duty.interval().toNanos() / 2;
    List<HeldPost> ready = new ArrayList<>();
    for (HeldPost post : posts) {
      if (post.begin(soon)) {
        ready.add(post);
      }
    }
    if (!ready.isEmpty()) {
      perform(ready);
    }
  }

  private long nanosToNextTurn(long now) {
    return posts.stream()
        .filter(HeldPost::isHeld)
        .mapToLong(post -> post.nextTurn() - now)
        .min()
        .orElse(IDLE_NANOS);
  }

  private void perform(List<HeldPost> ready) throws InterruptedException {
    Map<Long, RuntimeException> failures = Map.of();
    try {
      failures = duty.perform(Collections.unmodifiableList(ready));
    } catch (RuntimeException e) {
      failures = ofAll(ready, e);
    } catch (Error e) {
      failures = ofAll(ready, new IllegalStateException(e));
    } finally {
      // a stop that interrupts a turn isn't the fault of the worker
      end(ready, loop.isStopping() ? Map.of() : failures);
    }
    if (Thread.interrupted() && loop.isStopping()) {
      throw new InterruptedException();
    }
  }

  private static Map<Long, RuntimeException> ofAll(List<HeldPost> ready, RuntimeException e) {
    Map<Long, RuntimeException> failures = new ConcurrentHashMap<>();
    ready.forEach(post -> failures.put(post.worker(), e));
    return failures;
  }

  private void end(List<HeldPost> ready, Map<Long, RuntimeException> failures) {
    long pause = Math.min(duty.interval().toNanos(), duty.untilNext().toNanos());
    long next = System.nanoTime() + pause;
    boolean isStopping = loop.isStopping();
    for (HeldPost post : ready) {
      if (failures.containsKey(post.worker())) {
        post.failed(next, timing);
      } else if (isStopping) {
        post.end(next);
      } else {
        post.succeeded(next);
      }
    }
    report(ready, failures);
    if (ready.stream().anyMatch(HeldPost::hasNews)) {
      atNews.run();
    }
  }

  /** One line for a turn: a thousand streams can fail for one reason. */
  private void report(List<HeldPost> ready, Map<Long, RuntimeException> failures) {
    for (HeldPost post : ready) {
      RuntimeException e = failures.get(post.worker());
      if (e != null) {
        String what =
            "%s failed, %d in a row, as did %d of %d in this turn"
                .formatted(post, post.failures(), failures.size(), ready.size());
        if (e instanceof SqlStreamsException known) {
          log.warn("{}: {}", what, known.getMessage());
        } else {
          log.warn(what, e);
        }
        return;
      }
    }
  }
}
