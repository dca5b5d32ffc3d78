package io.sqlstreams.cli.demo;

import java.util.Optional;

/**
 * Kills a worker of a group, once, in mid-work: some messages are handled, most aren't, and
 * handlers run.
 */
final class Killing {
  private static final double EARLIEST = 0.3;

  private final WorkerGroup group;
  private final long from;
  private boolean done;

  /**
   * @param messages how many the group will handle in all
   */
  Killing(WorkerGroup group, long messages) {
    this.group = group;
    this.from = (long) (messages * EARLIEST);
  }

  /** Kills if it is time; then tells whom. */
  Optional<Worker> tick() {
    if (done || group.handled().distinct() < from) {
      return Optional.empty();
    }
    Optional<Worker> victim = group.busy();
    victim.ifPresent(Worker::kill);
    done = victim.isPresent();
    return victim;
  }

  boolean done() {
    return done;
  }
}
