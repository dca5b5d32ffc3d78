package io.sqlstreams.internal.fleet;

import io.sqlstreams.lab.Await;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;

/** A duty that writes down its turns, and does in them what the test says. */
final class TestDuty implements Duty {
  private final String name;
  private final Duration interval;
  private final Work work;
  private final List<List<Post>> turns = new CopyOnWriteArrayList<>();

  /** What is done for one post. */
  interface Work {
    void on(Post post) throws InterruptedException;
  }

  TestDuty(String name, Duration interval, Work work) {
    this.name = name;
    this.interval = interval;
    this.work = work;
  }

  /** The turns that have begun. */
  List<List<Post>> turns() {
    return turns;
  }

  void awaitTurns(int number) {
    Await.until(number + " turns", () -> turns.size() >= number);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Duration interval() {
    return interval;
  }

  @Override
  public Map<Long, RuntimeException> perform(Collection<Post> posts) {
    turns.add(List.copyOf(posts));
    Map<Long, RuntimeException> failures = new HashMap<>();
    for (Post post : posts) {
      try {
        work.on(post);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return failures;
      } catch (RuntimeException e) {
        failures.put(post.worker(), e);
      }
    }
    return failures;
  }
}
