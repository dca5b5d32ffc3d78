package io.sqlstreams;

/**
 * How many messages of a group's exception queue are in which state. Counting stops at {@link
 * GroupSnapshot#COUNT_LIMIT}: for {@code dead}, for {@code superseded}, and for the others
 * together, beginning at the smallest ids. A number that has reached it means that many or more.
 * Immutable.
 *
 * @param due ready, and their time has come: the next free process takes them
 * @param retrying ready later, after at least one failure since they came here or were redriven
 * @param delayed ready later, and that only because a handler or an operator wished it: they
 *     haven't failed. One that was delayed and has failed is {@code retrying}, whichever was last
 * @param inflight a process handles them
 * @param deferred they wait for another message of their key
 * @param dead given up
 * @param superseded made needless by a newer message of their key
 */
public record ExceptionCounts(
    int due, int retrying, int delayed, int inflight, int deferred, int dead, int superseded) {
  /** All that is neither dead nor superseded. */
  public int unresolved() {
    return due + retrying + delayed + inflight + deferred;
  }
}
