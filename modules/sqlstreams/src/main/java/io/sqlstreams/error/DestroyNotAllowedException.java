package io.sqlstreams.error;

/** Destroying wasn't allowed on this client. Nothing was changed. */
public class DestroyNotAllowedException extends SqlStreamsException {
  private static final long serialVersionUID = 1L;

  /**
   * @param subject what was to be destroyed
   */
  public DestroyNotAllowedException(String subject) {
    super(
        ErrorCode.DESTROY_NOT_ALLOWED,
        subject
            + " was not destroyed: this deletes data for good, so build the client with allowDestroy(true) if you mean it",
        null);
  }
}
