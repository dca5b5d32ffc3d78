package io.sqlstreams.cli.demo;

import java.util.Optional;

/** Kills the first worker of a group, once, in mid-work: some messages are handled, most aren't, and handlers run. */
final class Killing {
  private static final double EARLIEST = 0.3;

  private final WorkerGroup group;
  private final Worker victim;
  private final long from;
  private boolean done;

  /**
   * @param messages how many the group will handle in all
   */
  Killing(WorkerGroup group, long messages) {
    this.group = group;
    this.victim = group.workers().get(0);
    this.from = (long) (messages * EARLIEST);
  }

  /** Kills if it is time; then tells whom. */
  Optional<Worker> tick() {
    if (done || group.handled().distinct() < from || victim.report().running() == 0) {
      return Optional.empty();
    }
    done = true;
    victim.kill();
    return Optional.of(victim);
  }

  boolean done() {
    return done;
  }
}
