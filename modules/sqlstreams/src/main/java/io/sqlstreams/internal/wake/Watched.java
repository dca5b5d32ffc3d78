package io.sqlstreams.internal.wake;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A consumption whose group and stream the {@link Watcher} keeps an eye on. */
public interface Watched {
  /** The stream's id. */
  long stream();

  /** The group's id. */
  long group();

  /** How long news may stay unnoticed while no notifications are heard. */
  Duration pollInterval();

  /** How long a new declaration may stay unnoticed. */
  Duration settingsInterval();

  /** There may be news. Returns at once. */
  void wake();

  /**
   * The group was declared anew, changed by hand or destroyed, or is looked at for the first time.
   *
   * @param settings its settings as they are kept; null when it has none
   */
  void changed(@Nullable String settings);
}
