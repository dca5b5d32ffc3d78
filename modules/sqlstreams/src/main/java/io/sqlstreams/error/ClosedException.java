package io.sqlstreams.error;

/** The client or this part of it is closed. Nothing was sent. */
public class ClosedException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  /**
   * @param subject what is closed
   */
  public ClosedException(String subject) {
    super(ErrorCode.CLOSED, subject + " is closed: build a new one", null);
  }
}
