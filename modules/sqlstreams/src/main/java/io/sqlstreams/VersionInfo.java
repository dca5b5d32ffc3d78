package io.sqlstreams;

import java.util.List;

/**
 * What a schema version is still needed for in a stream, at one moment. Immutable.
 *
 * @param version the schema version, 1 or above
 * @param groups what each registered group has left of it, by the group's name
 * @param heads how many message keys have a message of this version as their last state
 * @param headKeys the first of those keys, {@value #MAX_KEYS} at most
 */
public record VersionInfo(
    int version, List<VersionRest> groups, long heads, List<String> headKeys) {
  /** The most keys that are listed. */
  public static final int MAX_KEYS = 100;

  public VersionInfo {
    groups = List.copyOf(groups);
    headKeys = List.copyOf(headKeys);
  }

  /**
   * Whether nothing registered needs to read the version any more: no group has a message of it
   * left, dead ones that could be redriven among them, and no key's last state is of it. Then what
   * reads it, such as an upcaster, can go, as long as nobody produces the version any more, and no
   * group is registered or rewound below messages of it. False when there is more than could be
   * counted.
   */
  public boolean canRetire() {
    return heads == 0 && groups.stream().allMatch(VersionRest::isNothing);
  }
}
