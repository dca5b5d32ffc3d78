package io.sqlstreams.error;

import org.jspecify.annotations.Nullable;

/**
 * A stored message can't be read, or not be replaced, through this handle: its schema version is
 * one that the handle doesn't read, or its codec fails. Nothing was changed.
 */
public class UnreadableMessageException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  private final String stream;
  private final long messageId;

  /**
   * @param stream the stream's name
   * @param messageId the message's id
   * @param problem what is wrong, without the payload
   * @param cause what the codec said; null when it wasn't asked
   */
  public UnreadableMessageException(
      String stream, long messageId, String problem, @Nullable Throwable cause) {
    super(
        ErrorCode.UNREADABLE_MESSAGE,
        "message "
            + messageId
            + " of stream \""
            + stream
            + "\": "
            + problem
            + ": use a payload class of its version, upgrade from it, or take the stream without a class",
        cause);
    this.stream = stream;
    this.messageId = messageId;
  }

  /** The stream's name. */
  public String stream() {
    return stream;
  }

  /** The message's id. */
  public long messageId() {
    return messageId;
  }
}
