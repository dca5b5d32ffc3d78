package io.sqlstreams;

/** Where a message is in a group. */
public enum DeliveryState {
  /**
   * The group hasn't come to it: its id is above what is claimed. After a rewind that is so
   * whatever became of it before.
   */
  WAITING,
  /**
   * It is in a claimed range that isn't finished: it waits in a process, is handled, or has been,
   * since results are recorded when the whole range has ended.
   */
  CLAIMED,
  /** It is in the exception queue and is taken when its time has come. */
  READY,
  /** It was taken from the exception queue, and a process handles it. */
  INFLIGHT,
  /** It is in the exception queue and waits for another message of its key. */
  DEFERRED,
  /** It is given up, and stays in the exception queue. */
  DEAD,
  /** A newer message of its key has made it needless. */
  SUPERSEDED,
  /**
   * The group is past it and nothing is open: it is done, was discarded, or is older than the
   * group's start. Of a message at or below {@link GroupBindings#above} also when the filter that
   * held there passed it over.
   */
  PASSED,
  /**
   * The group's filter, its bindings and schema versions, passes over it, or will when the group
   * comes to it.
   */
  SKIPPED
}
