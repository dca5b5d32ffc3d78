package io.sqlstreams.bench.idle;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sqlstreams.bench.BenchException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** An {@link IdleProcess} that runs; what it tells goes to a queue, with the moment. */
final class Child implements AutoCloseable {
  private final Process process;

  private Child(Process process) {
    this.process = process;
  }

  /**
   * What a child told.
   *
   * @param line the line
   * @param at when it came, by this process's measure
   */
  record Told(String line, long at) {}

  static Child start(String url, String schema, BlockingQueue<Told> told) throws IOException {
    Process process =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                    "-Xmx512m",
                    "-cp",
                    System.getProperty("java.class.path"),
                    IdleProcess.class.getName(),
                    url,
                    schema))
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    Thread reader = new Thread(() -> read(process, told), "child-reader");
    reader.setDaemon(true);
    reader.start();
    return new Child(process);
  }

  private static void read(Process process, BlockingQueue<Told> told) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        told.add(new Told(line, System.nanoTime()));
      }
    } catch (IOException e) {
      // it is being ended
    }
  }

  /** The next line of any child that says this. */
  static Told await(BlockingQueue<Told> told, String line, long seconds)
      throws InterruptedException {
    Told next;
    do {
      next = told.poll(seconds, TimeUnit.SECONDS);
      if (next == null) {
        throw new BenchException("no process told \"" + line + "\" within " + seconds + " s");
      }
    } while (!next.line().equals(line));
    return next;
  }

  @Override
  public void close() throws IOException {
    process.getOutputStream().close();
    try {
      if (!process.waitFor(30, TimeUnit.SECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException e) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
