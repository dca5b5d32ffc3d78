package io.sqlstreams.cli;

/** Something that runs until it ends by itself or with Ctrl-C. */
final class UntilStopped {
  /** Waits for its end. */
  @FunctionalInterface
  interface End {
    void await() throws InterruptedException;
  }

  private UntilStopped() {}

  /**
   * Waits for the end.
   *
   * @param stop asks for it and waits; run at Ctrl-C
   * @return the exit code
   */
  static int run(Runnable stop, End end) {
    Thread atExit = new Thread(stop, "sqlstreams-stop");
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      end.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    try {
      Runtime.getRuntime().removeShutdownHook(atExit);
    } catch (IllegalStateException e) {
      // it runs: this is Ctrl-C
    }
    return 0;
  }
}
