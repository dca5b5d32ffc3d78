package io.sqlstreams;

/**
 * Handles messages one by one. It is called by several threads at once and must be thread-safe. A
 * message is delivered at least once: after a crash or a lost lease it can come again.
 *
 * @param <T> the payload's type
 */
@FunctionalInterface
public interface MessageHandler<T> {
  /**
   * Handles one message.
   *
   * @return how it ended; null counts as a failure
   * @throws Exception when the message should be tried again by the group's retry policy
   */
  Outcome handle(Message<T> message) throws Exception;
}
