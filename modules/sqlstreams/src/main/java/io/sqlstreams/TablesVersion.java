package io.sqlstreams;

import io.sqlstreams.config.MigrationScope;
import org.jspecify.annotations.Nullable;

/**
 * The version of some tables in the database, against what this build knows.
 *
 * @param scope which kind of tables
 * @param stream the stream whose family it is; null for the control plane
 * @param version the version in the database
 * @param minCompatibleVersion the oldest build that may work on it, by the newest version of this
 *     scope that such a build knows
 * @param newest the newest version that this build knows
 * @param unfinished the version of a step that was begun and didn't come to its end: it is going
 *     on, was interrupted or has failed; 0 when there is none
 * @param error what stopped that step; null when nothing was recorded
 */
public record TablesVersion(
    MigrationScope scope,
    @Nullable String stream,
    int version,
    int minCompatibleVersion,
    int newest,
    int unfinished,
    @Nullable String error) {

  /** What a build makes of the tables. */
  public enum State {
    /** They are what this build was made for. */
    CURRENT,
    /** They are older: this build refuses to work on them until they are migrated. */
    OLDER,
    /** They are newer, and this build can work on them. */
    NEWER,
    /** They are newer, and this build refuses to work on them. */
    TOO_NEW
  }

  /** What this build makes of them. */
  public State state() {
    if (version == newest) {
      return State.CURRENT;
    }
    if (version < newest) {
      return State.OLDER;
    }
    return minCompatibleVersion <= newest ? State.NEWER : State.TOO_NEW;
  }
}
