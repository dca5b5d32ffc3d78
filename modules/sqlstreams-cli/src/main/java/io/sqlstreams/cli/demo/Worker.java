package io.sqlstreams.cli.demo;

import io.sqlstreams.cli.CliException;
import io.sqlstreams.cli.Main;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** A worker process as its parent sees it. Closing it stops it. */
final class Worker implements AutoCloseable {
  private static final long STOP_LIMIT_SECONDS = 10;
  private static final Duration READY_LIMIT = Duration.ofSeconds(60);

  private final String name;
  private final Process process;
  private final LedgerReader ledger;
  private final Path errors;
  private final CountDownLatch ready = new CountDownLatch(1);
  private volatile WorkerReport report = WorkerReport.NONE;
  private volatile boolean killed;

  private Worker(String name, Process process, LedgerReader ledger, Path errors) {
    this.name = name;
    this.process = process;
    this.ledger = ledger;
    this.errors = errors;
  }

  /**
   * Starts a process of the same Java and the same classes as this one.
   *
   * @param folder for its ledger and its stderr
   * @param listener is told each report as it comes, on a thread of this worker
   */
  static Worker start(
      String name,
      String group,
      String stream,
      String url,
      Duration lease,
      Path folder,
      BiConsumer<Worker, WorkerReport> listener)
      throws IOException {
    Path ledger = folder.resolve(name + ".ids");
    Path errors = folder.resolve(name + ".err");
    ProcessBuilder builder =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Main.class.getName(),
            "demo-worker",
            "--url=" + url,
            "--stream=" + stream,
            "--group=" + group,
            "--lease=" + lease,
            "--ledger=" + ledger);
    builder.redirectError(errors.toFile());
    Worker worker = new Worker(name, builder.start(), new LedgerReader(ledger), errors);
    Thread reader = new Thread(() -> worker.readReports(listener), "reports-" + name);
    reader.setDaemon(true);
    reader.start();
    return worker;
  }

  private void readReports(BiConsumer<Worker, WorkerReport> listener) {
    try (BufferedReader lines =
        new BufferedReader(
            new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        @Nullable WorkerReport news = WorkerReport.parse(line);
        if (news != null) {
          report = news;
          ready.countDown();
          listener.accept(this, news);
        }
      }
    } catch (IOException e) {
      // it was killed
    }
  }

  String name() {
    return name;
  }

  long pid() {
    return process.pid();
  }

  boolean alive() {
    return process.isAlive();
  }

  /** Waits until it consumes. */
  void awaitReady() throws IOException, InterruptedException {
    long deadline = System.nanoTime() + READY_LIMIT.toNanos();
    while (!ready.await(50, TimeUnit.MILLISECONDS)) {
      requireRunning();
      if (System.nanoTime() > deadline) {
        throw new CliException(
            "worker "
                + name
                + " isn't ready after "
                + READY_LIMIT.toSeconds()
                + " s: is the machine overloaded?");
      }
    }
  }

  /**
   * @throws CliException when it ended and nobody had ended it
   */
  void requireRunning() throws IOException {
    if (killed || process.isAlive()) {
      return;
    }
    List<String> lines = Files.readAllLines(errors);
    String last = lines.isEmpty() ? "it said nothing" : lines.get(lines.size() - 1);
    throw new CliException(
        "worker " + name + " ended by itself, exit code " + process.exitValue() + ": " + last);
  }

  WorkerReport report() {
    return report;
  }

  LedgerReader ledger() {
    return ledger;
  }

  /** SIGKILL: no handler, no hook, no farewell to the database. */
  void kill() {
    killed = true;
    process.destroyForcibly();
  }

  /** Ends its stdin, so that it stops in good order. */
  void askToStop() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      // it is gone already
    }
  }

  @Override
  public void close() {
    askToStop();
    try {
      if (process.waitFor(STOP_LIMIT_SECONDS, TimeUnit.SECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    process.destroyForcibly();
  }
}
