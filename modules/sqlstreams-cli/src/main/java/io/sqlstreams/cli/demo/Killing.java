package io.sqlstreams.cli.demo;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Kills one worker, once, in mid-work: from a moment on it waits for a report that says that all
 * handlers of a worker are busy, and kills that worker right then. Thread-safe.
 */
final class Killing {
  /**
   * Who was killed.
   *
   * @param worker the process
   * @param running how many of its handlers were in the middle of a message
   */
  record Victim(Worker worker, long running) {}

  private final AtomicReference<Victim> victim = new AtomicReference<>();
  private volatile boolean armed;

  /** Kills from now on. */
  void arm() {
    armed = true;
  }

  /** A worker has just sent a report. */
  void onReport(Worker worker, WorkerReport report) {
    if (armed
        && report.running() >= DemoWorkerCommand.HANDLERS
        && victim.compareAndSet(null, new Victim(worker, report.running()))) {
      worker.kill();
    }
  }

  /** Who was killed; empty until somebody was. */
  Optional<Victim> victim() {
    return Optional.ofNullable(victim.get());
  }
}
