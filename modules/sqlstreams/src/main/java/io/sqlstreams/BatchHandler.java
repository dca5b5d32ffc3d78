package io.sqlstreams;

import io.sqlstreams.config.ConsumeOptions;
import java.util.List;

/**
 * Handles several messages at once. It is called by several threads at once and must be
 * thread-safe. Each message is delivered at least once: after a crash or a lost lease it can come
 * again, in other company.
 *
 * @param <T> the payload's type
 */
@FunctionalInterface
public interface BatchHandler<T> {
  /**
   * Handles messages. It may take the longest of their timeouts for all of them.
   *
   * @param messages from 1 to {@link ConsumeOptions#maxBatch}, in the order of their ids; a message
   *     that is tried again comes alone
   * @return how it ended; null counts as a failure of each
   * @throws Exception when each of them should be tried again by its retry policy
   */
  BatchOutcome handle(List<Message<T>> messages) throws Exception;
}
