package io.sqlstreams.cli.demo;

import io.sqlstreams.cli.CliException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * What has to end with the demo, in the reverse order of its beginning: at the end of the command,
 * or when the process is asked to end (Ctrl-C), whichever comes first. Thread-safe.
 */
final class Cleanup implements AutoCloseable {
  private static final long INTERRUPT_WAIT_MILLIS = 300;

  private final Deque<AutoCloseable> owned = new ArrayDeque<>();
  private final Thread hook = new Thread(this::closeQuietly, "demo-cleanup");
  private final CountDownLatch interrupt = new CountDownLatch(1);
  private boolean closed;

  /** Something that begins, and ends when it is closed. */
  interface Opening<T extends AutoCloseable> {
    T open() throws Exception;
  }

  private Cleanup() {}

  static Cleanup onExit() {
    Cleanup cleanup = new Cleanup();
    Runtime.getRuntime().addShutdownHook(cleanup.hook);
    return cleanup;
  }

  /**
   * Begins something and owns it. A clean-up that comes meanwhile waits, so that nothing half-begun
   * is left.
   *
   * @throws CancellationException when the clean-up was earlier
   */
  synchronized <T extends AutoCloseable> T own(Opening<T> opening) throws Exception {
    if (closed) {
      throw new CancellationException("the demo is being stopped");
    }
    T opened = opening.open();
    owned.push(opened);
    return opened;
  }

  /**
   * Whether the process was asked to end: what fails now fails because of that. Ctrl-C reaches the
   * workers too, and one may end before this process has noticed, hence the wait.
   */
  boolean interrupted() {
    try {
      return interrupt.await(INTERRUPT_WAIT_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return true;
    }
  }

  /** Waits for the process to be asked to end. */
  static void awaitInterrupt() throws InterruptedException {
    Thread.currentThread().join();
  }

  /**
   * @throws CliException when something could not be ended
   */
  @Override
  public void close() {
    @Nullable Exception failure = closeAll();
    if (interrupt.getCount() == 0) {
      return;
    }
    try {
      Runtime.getRuntime().removeShutdownHook(hook);
    } catch (IllegalStateException e) {
      return; // asked to end at this very moment
    }
    if (failure != null) {
      throw new CliException(
          "the demo could not clean up after itself: " + failure.getMessage(), failure);
    }
  }

  private void closeQuietly() {
    interrupt.countDown();
    closeAll();
  }

  private synchronized @Nullable Exception closeAll() {
    closed = true;
    @Nullable Exception first = null;
    while (!owned.isEmpty()) {
      try {
        owned.pop().close();
      } catch (Exception e) {
        first = first == null ? e : first;
      }
    }
    return first;
  }
}
