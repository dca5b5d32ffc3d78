package io.sqlstreams.bench;

/**
 * A run that can't go on, or whose result is wrong. The message is for the user and is one line.
 */
public final class BenchException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public BenchException(String message) {
    super(message);
  }

  public BenchException(String message, Throwable cause) {
    super(message, cause);
  }
}
