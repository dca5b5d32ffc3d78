package io.sqlstreams;

/** What became of an attempt at a message, as the delivery log keeps it. */
public enum DeliveryEvent {
  /** The handler was done with it. */
  SUCCESS,
  /** The handler threw or took too long, or the payload couldn't be read. */
  FAILURE,
  /** The handler asked for a delay. */
  DELAYED,
  /** The message had to wait for another one of its key. */
  DEFERRED,
  /** A newer message of its key had made it needless. */
  SUPERSEDED,
  /** Its process was gone, or cut off from the database. */
  EXPIRED,
  /** It was given up, whatever retries were left. */
  KILLED
}
