package io.sqlstreams.internal.dispatch;

/** What happened to a message can't happen by the model. */
final class WrongHistoryException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  WrongHistoryException(String message) {
    super(message);
  }
}
