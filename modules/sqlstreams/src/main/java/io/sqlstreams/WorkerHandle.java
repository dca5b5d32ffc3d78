package io.sqlstreams;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.error.WorkerNotFoundException;
import io.sqlstreams.error.WorkerStateException;

/**
 * A background worker of the system or of a stream by its name. The handle itself does no I/O; each
 * verb resolves the names when it is called, works in a transaction of its own, and throws:
 *
 * <ul>
 *   <li>{@link StreamNotFoundException} when the stream isn't registered, {@link
 *       NotInstalledException} when the schema holds no installation
 *   <li>{@link WorkerNotFoundException} with the names that there are, when there is no such worker
 *   <li>{@link InvalidInputException} when no worker can have this name
 *   <li>{@link DatabaseException} when the database can't be reached or refuses
 * </ul>
 *
 * <p>Thread-safe.
 */
public interface WorkerHandle {
  /** The worker's name. */
  String name();

  /** What is declared of it, and who does it at the moment. Locks and writes nothing. */
  WorkerInfo status();

  /**
   * Suspends the worker in all processes, until it is resumed; registering its owner again doesn't
   * resume it. Doesn't wait: a process that holds the worker begins no turn of it after its next
   * look, within about a second, a turn that runs comes to its end, and then it is given back. The
   * answer's {@link WorkerInfo#instances} are those that are still to notice; {@link #status} shows
   * when there is none. Recorded in {@code worker_config_log}.
   *
   * @throws WorkerStateException when it is suspended already; nothing is changed or recorded
   */
  WorkerInfo suspend();

  /**
   * Lets the worker run again, in as many processes as before, or in one when it was suspended from
   * the start. A process takes it within about a second. Its failures are forgotten. Recorded in
   * {@code worker_config_log}.
   *
   * @throws WorkerStateException when it isn't suspended; nothing is changed or recorded
   */
  WorkerInfo resume();
}
