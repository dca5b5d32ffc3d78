package io.sqlstreams.cli.demo;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/**
 * The worker processes of one consumer group, and what they have written down. For one thread.
 * Closing it stops them.
 */
final class WorkerGroup implements AutoCloseable {
  private final String name;
  private final List<Worker> workers = new ArrayList<>();
  private final Tally handled = new Tally();

  WorkerGroup(String name) {
    this.name = name;
  }

  void add(Worker worker) {
    workers.add(worker);
  }

  String name() {
    return name;
  }

  Tally handled() {
    return handled;
  }

  /** Waits until every worker consumes. */
  void awaitReady() throws IOException, InterruptedException {
    for (Worker worker : workers) {
      worker.awaitReady();
    }
  }

  /**
   * Reads what the workers have written since the last call.
   *
   * @throws io.sqlstreams.cli.CliException when one has ended and nobody had ended it
   */
  void readLedgers() throws IOException {
    for (Worker worker : workers) {
      worker.requireRunning();
      worker.ledger().readInto(handled);
    }
  }

  /** Reads what the workers had still written when they stopped. */
  void readLastOfLedgers() throws IOException {
    for (Worker worker : workers) {
      worker.ledger().readInto(handled);
    }
  }

  /** Ranges and messages that were taken over from workers whose lease had ended. */
  long takenOver() {
    return sum(WorkerReport::reclaimed);
  }

  GroupProgress progress(long produced) {
    List<Worker> alive = workers.stream().filter(Worker::alive).toList();
    return new GroupProgress(
        name,
        produced,
        handled.distinct(),
        alive.stream().mapToLong(worker -> worker.report().running()).sum(),
        sum(WorkerReport::retried),
        alive.size());
  }

  private long sum(ToLongFunction<WorkerReport> counter) {
    return workers.stream().map(Worker::report).mapToLong(counter).sum();
  }

  @Override
  public void close() {
    workers.forEach(Worker::askToStop);
    workers.forEach(Worker::close);
  }
}
