package io.sqlstreams.error;

/** The named consumer group isn't registered on the stream. */
public class GroupNotFoundException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String stream;
  private final String group;

  /**
   * @param stream the stream's name
   * @param group the name that was asked for
   */
  public GroupNotFoundException(String stream, String group) {
    super(
        ErrorCode.GROUP_NOT_FOUND,
        "group \""
            + group
            + "\" isn't registered on stream \""
            + stream
            + "\": register it first, or correct the name (names are case-sensitive)",
        null);
    this.stream = stream;
    this.group = group;
  }

  /** The stream's name. */
  public String stream() {
    return stream;
  }

  /** The name that was asked for. */
  public String group() {
    return group;
  }
}
