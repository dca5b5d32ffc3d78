package io.sqlstreams;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A background worker: what is declared of it, and who does it at the moment.
 *
 * @param name its name, such as {@code stream_janitor}
 * @param stream the name of the stream that it works for; null for the system
 * @param targetInstances how many processes may do its work at once: 0 when it is suspended, -1
 *     without a limit, which is one in each process
 * @param settings its declared settings as a JSON object; what isn't there has its default
 * @param instances those that are alive; empty when nobody does its work at the moment
 * @param heldUntil the end of the lease that was taken or renewed last, by the database's clock: in
 *     the future while somebody does its work, else about when that ended. Null when nobody has for
 *     a day
 */
public record WorkerInfo(
    String name,
    @Nullable String stream,
    int targetInstances,
    String settings,
    List<WorkerInstance> instances,
    @Nullable Instant heldUntil) {
  /** Whether it is suspended. */
  public boolean isSuspended() {
    return targetInstances == 0;
  }

  /** How many turns of the instance that is worst off have failed in a row. */
  public int failures() {
    return instances.stream().mapToInt(WorkerInstance::failures).max().orElse(0);
  }
}
