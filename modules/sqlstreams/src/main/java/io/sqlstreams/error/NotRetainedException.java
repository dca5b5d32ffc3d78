package io.sqlstreams.error;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A place in a stream lies below the oldest message that the stream still holds: what was in
 * between is dropped, and would be skipped. Nothing was changed.
 */
public class NotRetainedException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String stream;
  private final long oldestRetainedId;

  /**
   * For a place that was given by its id.
   *
   * @param stream the stream's name
   * @param afterId the id after which was to be read
   * @param oldestRetainedId the lowest id that the stream still holds, or can
   */
  public NotRetainedException(String stream, long afterId, long oldestRetainedId) {
    this(
        stream,
        "the messages after id "
            + afterId
            + " are asked for, but those below id "
            + oldestRetainedId
            + " are dropped: use Start.after("
            + (oldestRetainedId - 1)
            + ") or Start.beginning() to begin with the oldest that is left",
        oldestRetainedId);
  }

  /**
   * For a place that was given by an instant.
   *
   * @param stream the stream's name
   * @param instant the instant from which on was to be read
   * @param oldest when the oldest message that is left was produced; null when none is left
   * @param oldestRetainedId the lowest id that the stream still holds, or can
   */
  public NotRetainedException(
      String stream, Instant instant, @Nullable Instant oldest, long oldestRetainedId) {
    this(
        stream,
        "the messages from "
            + instant
            + " on are asked for, but "
            + (oldest == null
                ? "all are dropped"
                : "those produced before the oldest that is left, of " + oldest + ", are dropped")
            + ": use Start.beginning() to begin with what is left",
        oldestRetainedId);
  }

  private NotRetainedException(String stream, String problem, long oldestRetainedId) {
    super(ErrorCode.NOT_RETAINED, "stream \"" + stream + "\": " + problem, null);
    this.stream = stream;
    this.oldestRetainedId = oldestRetainedId;
  }

  /** The stream's name. */
  public String stream() {
    return stream;
  }

  /** The lowest id that the stream still holds, or can. */
  public long oldestRetainedId() {
    return oldestRetainedId;
  }
}
