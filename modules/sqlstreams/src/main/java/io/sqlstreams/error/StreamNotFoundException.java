package io.sqlstreams.error;

/** The named stream isn't registered. */
public class StreamNotFoundException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String stream;

  /**
   * @param stream the name that was asked for
   */
  public StreamNotFoundException(String stream) {
    super(
        ErrorCode.STREAM_NOT_FOUND,
        "stream \""
            + stream
            + "\" isn't registered: register it first, or correct the name (names are case-sensitive)",
        null);
    this.stream = stream;
  }

  /** The name that was asked for. */
  public String stream() {
    return stream;
  }
}
