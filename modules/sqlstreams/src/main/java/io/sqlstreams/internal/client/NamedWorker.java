package io.sqlstreams.internal.client;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.WorkerHandle;
import io.sqlstreams.WorkerInfo;
import io.sqlstreams.internal.fleet.WorkerOffice;
import org.jspecify.annotations.Nullable;

/**
 * A worker by its name.
 *
 * @param stream the stream's name; null for a worker of the system
 */
record NamedWorker(Parts parts, @Nullable String stream, String name) implements WorkerHandle {
  @Override
  public WorkerInfo status() {
    return office().status(owner(), name);
  }

  @Override
  public WorkerInfo suspend() {
    return office().suspend(owner(), name);
  }

  @Override
  public WorkerInfo resume() {
    return office().resume(owner(), name);
  }

  private WorkerOffice office() {
    parts.requireOpen();
    WorkerOffice.requireName(name);
    return parts.workers();
  }

  private @Nullable StreamInfo owner() {
    return stream == null ? null : parts.catalog().requireStream(stream);
  }
}
