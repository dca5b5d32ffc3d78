package io.sqlstreams.error;

import org.jspecify.annotations.Nullable;

/** A worker was to be suspended that is suspended, or resumed that isn't. Nothing was changed. */
public class WorkerStateException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String worker;
  private final @Nullable String stream;
  private final boolean suspended;

  private WorkerStateException(
      String worker, @Nullable String stream, boolean suspended, String what) {
    super(
        ErrorCode.WORKER_STATE,
        "worker \""
            + worker
            + "\" of "
            + (stream == null ? "the system" : "stream \"" + stream + "\"")
            + what,
        null);
    this.worker = worker;
    this.stream = stream;
    this.suspended = suspended;
  }

  /**
   * It is suspended already.
   *
   * @param stream the stream's name; null for the system
   */
  public static WorkerStateException suspended(String worker, @Nullable String stream) {
    return new WorkerStateException(
        worker, stream, true, " is suspended already: nothing was changed; resume lets it run");
  }

  /**
   * It isn't suspended.
   *
   * @param stream the stream's name; null for the system
   */
  public static WorkerStateException notSuspended(String worker, @Nullable String stream) {
    return new WorkerStateException(
        worker, stream, false, " isn't suspended: nothing was changed; suspend lets it rest");
  }

  /** The worker's name. */
  public String worker() {
    return worker;
  }

  /** The stream's name; null for the system. */
  public @Nullable String stream() {
    return stream;
  }

  /** Whether it is suspended. */
  public boolean suspended() {
    return suspended;
  }
}
