package io.sqlstreams;

import io.sqlstreams.config.DeliveryLogMode;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What has become of a message in a group. State and history are of one moment. Immutable.
 *
 * @param group the group's name
 * @param state where the message is
 * @param attempts how many attempts have ended, which is the number of the one that runs or comes
 *     next; 0 for a message that isn't in the exception queue, whose history tells more
 * @param delays how many of them ended in a delay, since the last redrive if there was one; 0 for a
 *     message that isn't in the exception queue
 * @param lastError why it is in the exception queue; null when it isn't, or when nothing failed
 * @param canRunAfter when it can be taken at the earliest, by the database's clock; null unless it
 *     is {@link DeliveryState#READY}
 * @param history what the delivery log says of it, in the order in which it was written; of more
 *     than {@value #MAX_HISTORY} entries the last ones. Which attempts it has is the group's
 *     choice: {@link DeliveryLogMode}. What was before a rewind is still there
 */
public record GroupDelivery(
    String group,
    DeliveryState state,
    int attempts,
    int delays,
    @Nullable String lastError,
    @Nullable Instant canRunAfter,
    List<DeliveryAttempt> history) {
  /** The most entries of a history that are given. */
  public static final int MAX_HISTORY = 1_000;

  public GroupDelivery {
    history = List.copyOf(history);
  }
}
