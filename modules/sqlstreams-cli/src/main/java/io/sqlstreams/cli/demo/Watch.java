package io.sqlstreams.cli.demo;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

/**
 * Shows how it goes, and kills a worker, until everything is handled or nothing moves any more. For
 * one thread.
 */
final class Watch {
  private static final long TICK_MILLIS = 50;

  /** The share of the messages that the group has handled when one of its workers is killed. */
  private static final double KILL_FROM = 0.3;

  /**
   * Beside the lease, which is how long a group may have to wait for a killed worker's messages.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final Load load;
  private final List<WorkerGroup> groups;
  private final Killing killing;
  private final long killFrom;
  private final Duration stallLimit;
  private final Screen screen;
  private final Supplier<Duration> clock;

  private boolean produced;
  private boolean killTold;
  private long takenOver;
  private long moved;
  private Duration lastMove;

  /**
   * @param killing kills a worker of the first group
   * @param clock the time since the beginning
   */
  Watch(
      Load load,
      List<WorkerGroup> groups,
      Killing killing,
      Demo.Settings settings,
      Screen screen,
      Supplier<Duration> clock) {
    this.load = load;
    this.groups = groups;
    this.killing = killing;
    this.killFrom = (long) (settings.messages() * KILL_FROM);
    this.stallLimit = settings.lease().plus(PATIENCE);
    this.screen = screen;
    this.clock = clock;
    this.lastMove = clock.get();
  }

  void untilDone() throws IOException, InterruptedException {
    while (!tick()) {
      Thread.sleep(TICK_MILLIS);
    }
  }

  private boolean tick() throws IOException, InterruptedException {
    for (WorkerGroup group : groups) {
      group.readLedgers();
    }
    if (groups.get(0).handled().distinct() >= killFrom) {
      killing.arm();
    }
    if (!killTold) {
      killing.victim().ifPresent(this::tellKilled);
    }
    tellTakenOver();
    if (!produced && load.finished()) {
      produced = true;
      event("all " + GroupProgress.number(load.acknowledged()) + " messages are produced");
    }
    screen.progress(
        clock.get(), groups.stream().map(group -> group.progress(load.acknowledged())).toList());
    return isDone() || isStalled();
  }

  private boolean isDone() {
    return produced
        && groups.stream().allMatch(group -> load.ids().missingFrom(group.handled()) == 0);
  }

  private boolean isStalled() {
    long now =
        load.acknowledged() + groups.stream().mapToLong(group -> group.handled().distinct()).sum();
    if (now != moved) {
      moved = now;
      lastMove = clock.get();
    }
    boolean stalled = clock.get().minus(lastMove).compareTo(stallLimit) > 0;
    if (stalled) {
      event("nothing has moved for " + stallLimit.toSeconds() + " s: giving up");
    }
    return stalled;
  }

  private void tellKilled(Killing.Victim victim) {
    killTold = true;
    event(
        "killed worker "
            + victim.worker().name()
            + " (pid "
            + victim.worker().pid()
            + ") with SIGKILL, "
            + victim.running()
            + " handlers in mid-message");
  }

  private void tellTakenOver() {
    long now = groups.get(0).takenOver();
    if (now > takenOver) {
      event(
          "group "
              + groups.get(0).name()
              + " took over "
              + (now - takenOver)
              + " claims whose lease had ended");
      takenOver = now;
    }
  }

  private void event(String text) {
    screen.event(clock.get(), text);
  }
}
