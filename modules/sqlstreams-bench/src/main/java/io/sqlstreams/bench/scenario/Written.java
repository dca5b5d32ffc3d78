package io.sqlstreams.bench.scenario;

/** How far a writer has come; its reader waits here. Thread-safe. */
final class Written {
  private long last;
  private boolean ended;

  /** Rows up to this id are committed. */
  synchronized void upTo(long id) {
    last = id;
    notifyAll();
  }

  /** Nothing more comes. */
  synchronized void end() {
    ended = true;
    notifyAll();
  }

  /** The last id that is committed; 0 before the first. */
  synchronized long last() {
    return last;
  }

  /**
   * Waits until this id is committed or nothing more comes, and returns the last id that is
   * committed.
   */
  synchronized long await(long id) throws InterruptedException {
    while (last < id && !ended) {
      wait();
    }
    return last;
  }
}
