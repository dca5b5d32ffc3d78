package io.sqlstreams.error;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** The system or stream has no worker of this name. */
public class WorkerNotFoundException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String worker;
  private final @Nullable String stream;
  private final List<String> known;

  /**
   * @param worker the name that was asked for
   * @param stream the stream's name; null for the system
   * @param known the names of the workers that there are
   */
  public WorkerNotFoundException(String worker, @Nullable String stream, List<String> known) {
    super(
        ErrorCode.WORKER_NOT_FOUND,
        (stream == null ? "the system" : "stream \"" + stream + "\"")
            + " has no worker \""
            + worker
            + "\": "
            + (known.isEmpty() ? "it has none: register it again" : "use one of " + known),
        null);
    this.worker = worker;
    this.stream = stream;
    this.known = List.copyOf(known);
  }

  /** The name that was asked for. */
  public String worker() {
    return worker;
  }

  /** The stream's name; null for the system. */
  public @Nullable String stream() {
    return stream;
  }

  /** The names of the workers that there are, in their order. */
  public List<String> known() {
    return known;
  }
}
