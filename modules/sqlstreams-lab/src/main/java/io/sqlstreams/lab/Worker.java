package io.sqlstreams.lab;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A {@link WorkerProcess} or {@link ScriptProcess} as seen by the test that started it. Not
 * thread-safe.
 */
public final class Worker implements AutoCloseable {
  private final Process process;
  private final BufferedReader output;
  private final Ledger ledger;

  private Worker(Process process, Ledger ledger) {
    this.process = process;
    this.output = process.inputReader(StandardCharsets.UTF_8);
    this.ledger = ledger;
  }

  /** Starts a process with these settings; it consumes when this returns. */
  public static Worker start(WorkerSettings settings) {
    Worker worker = launch(WorkerProcess.class, "warn", settings.arguments(), settings.ledger());
    worker.awaitReady();
    return worker;
  }

  /** Starts a process that acts scripts; it consumes a moment later. */
  public static Worker launch(ScriptSettings settings) {
    // so much is done to it that its warnings would fill pages
    return launch(ScriptProcess.class, "error", settings.arguments(), settings.ledger());
  }

  /** Starts a process of the fleet; it looks for workers when this returns. */
  public static Worker startFleet(List<String> arguments) {
    Worker worker = launch(FleetProcess.class, "error", arguments, "");
    worker.awaitReady();
    return worker;
  }

  /** Starts another process of the lab, which keeps no ledger. */
  public static Worker launch(Class<?> main, List<String> arguments) {
    return launch(main, "warn", arguments, "");
  }

  private static Worker launch(
      Class<?> main, String logLevel, List<String> arguments, String ledger) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"));
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=" + logLevel);
    command.add("-Dorg.slf4j.simpleLogger.log.com.zaxxer.hikari=" + logLevel);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(main.getName());
    command.addAll(arguments);
    try {
      Process process = new ProcessBuilder(command).start();
      passErrorsOn(process);
      return new Worker(process, new Ledger(Path.of(ledger)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Not by inheritance: whoever reads the errors of this JVM, as Maven does, would wait for the end
   * of every process that holds the stream, even of a frozen one, when this JVM is long gone.
   */
  private static void passErrorsOn(Process process) {
    Thread thread =
        new Thread(
            () -> {
              try {
                process.getErrorStream().transferTo(System.err);
              } catch (IOException e) {
                // closed, since it was killed
              }
            },
            "worker-errors");
    thread.setDaemon(true);
    thread.start();
  }

  private void awaitReady() {
    try {
      Await.until("the worker says something", () -> !process.isAlive() || hasOutput());
      String line = output.readLine();
      if (!"ready".equals(line)) {
        kill();
        throw new IllegalStateException("the worker said " + line + " instead of ready");
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private boolean hasOutput() {
    try {
      return output.ready();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What it has done so far. */
  public List<Ledger.Entry> entries() {
    return ledger.entries();
  }

  /** Waits until it has done at least so many messages; nobody else must be able to take them. */
  public void awaitEntries(int entries) {
    Await.until("the worker has done " + entries + " messages", () -> entries().size() >= entries);
  }

  /** Whether it still runs. */
  public boolean isAlive() {
    return process.isAlive();
  }

  /** The number of the process. */
  public long pid() {
    return process.pid();
  }

  /** Freezes it (SIGSTOP). */
  public void freeze() {
    signal("STOP");
  }

  /** Lets it go on (SIGCONT). */
  public void thaw() {
    signal("CONT");
  }

  /** Asks it to end (SIGTERM) and waits for that; gives what it said last, empty for nothing. */
  public String terminate() {
    // not by the process itself: that would close its output
    process.toHandle().destroy();
    return lastWords();
  }

  /** Kills it (SIGKILL) and waits for its end. */
  public void kill() {
    process.destroyForcibly();
    awaitEnd();
  }

  /** Waits for its end, however it comes. */
  public void awaitEnd() {
    try {
      if (!process.waitFor(240, TimeUnit.SECONDS)) {
        throw new IllegalStateException("the worker doesn't end");
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Has it stop in order; gives its counters. */
  public String finish() {
    try {
      process.getOutputStream().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return lastWords();
  }

  /** Waits for its end; gives the next line that it said, empty for nothing. */
  public String lastWords() {
    awaitEnd();
    try {
      String words = output.readLine();
      return words == null ? "" : words;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Kills it if it still runs. */
  @Override
  public void close() {
    kill();
  }

  /** Does nothing to one that has ended. */
  private void signal(String name) {
    if (!process.isAlive()) {
      return;
    }
    try {
      int exit =
          new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
              .inheritIO()
              .start()
              .waitFor();
      // it may have ended by itself in between
      if (exit != 0 && !process.waitFor(5, TimeUnit.SECONDS)) {
        throw new IllegalStateException("kill -" + name + " failed");
      }
    } catch (IOException | InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
