package io.sqlstreams.internal.fleet;

import java.util.Arrays;
import java.util.List;

/**
 * The workers that an installation and each of its streams have. A group's row, {@code consumer},
 * isn't one: it holds the group's settings, and its sessions hold leases of their own.
 */
enum WorkerKind {
  CURSOR_ADVANCER("cursor_advancer", Owner.SYSTEM, 1),
  CONSUMER_GROUP_JANITOR("consumer_group_janitor", Owner.SYSTEM, 1),
  SCHEDULE_PRODUCER("schedule_producer", Owner.SYSTEM, 1),
  STREAM_JANITOR("stream_janitor", Owner.STREAM, 1),
  /** Suspended until somebody wants it: autovacuum is enough for most. */
  STREAM_VACUUM("stream_vacuum", Owner.STREAM, 0);

  /** Whom a worker works for. */
  enum Owner {
    SYSTEM,
    STREAM
  }

  private final String workerName;
  private final Owner owner;
  private final int targetInstances;

  WorkerKind(String workerName, Owner owner, int targetInstances) {
    this.workerName = workerName;
    this.owner = owner;
    this.targetInstances = targetInstances;
  }

  String workerName() {
    return workerName;
  }

  Owner owner() {
    return owner;
  }

  /** How many processes do it at once, unless somebody declares otherwise; 0: suspended. */
  int targetInstances() {
    return targetInstances;
  }

  /** The names of the workers of such an owner. */
  static List<String> namesOf(Owner owner) {
    return Arrays.stream(values())
        .filter(kind -> kind.owner == owner)
        .map(WorkerKind::workerName)
        .toList();
  }
}
