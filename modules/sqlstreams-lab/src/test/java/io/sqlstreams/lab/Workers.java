package io.sqlstreams.lab;

import io.sqlstreams.test.TestDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The worker processes of one test. Closing kills those that still run. */
public final class Workers implements AutoCloseable {
  private final WorkerSettings settings;
  private final Path directory;
  private final List<Worker> started = new ArrayList<>();

  /** Workers of this stream's group with two handlers of 5 ms and a lease of 2 s. */
  public Workers(TestDatabase database, TestStream stream, Path directory) {
    this.directory = directory;
    this.settings =
        new WorkerSettings(
            database.jdbcUrl(),
            database.schema(),
            stream.name(),
            stream.group().name(),
            "",
            2,
            20,
            2_000,
            5,
            0,
            WorkerSettings.Kind.LEDGER);
  }

  public WorkerSettings settings() {
    return settings;
  }

  public Worker start() {
    return start(settings);
  }

  public Worker start(WorkerSettings wanted) {
    Path ledger = directory.resolve("worker-" + started.size());
    Worker worker = Worker.start(wanted.withLedger(ledger.toString()));
    started.add(worker);
    return worker;
  }

  /** What all of them have done. */
  public List<Ledger.Entry> entries() {
    return started.stream().flatMap(worker -> worker.entries().stream()).toList();
  }

  @Override
  public void close() {
    started.forEach(Worker::close);
  }
}
