package io.sqlstreams;

/**
 * What a group has left of a schema version. Immutable.
 *
 * @param group the group's name
 * @param isRead whether the group reads the version; what it doesn't is stepped over
 * @param unread messages of it that the group would still be given for the first time: above what
 *     is claimed, or in claimed ranges that aren't finished; 0 or above
 * @param waiting messages of it in the exception queue that are neither dead nor superseded; 0 or
 *     above
 * @param dead messages of it in the exception queue that are dead; 0 or above
 * @param isExact whether all were counted. If not, the group has more than {@link
 *     GroupSnapshot#COUNT_LIMIT} messages above what is claimed, of whatever version, or as many in
 *     one of the two parts of the exception queue; then the numbers are what was found among the
 *     first of them, and there may be more
 */
public record VersionRest(
    String group, boolean isRead, long unread, long waiting, long dead, boolean isExact) {
  /** Whether it is sure that nothing is left. */
  public boolean isNothing() {
    return isExact && unread + waiting + dead == 0;
  }
}
