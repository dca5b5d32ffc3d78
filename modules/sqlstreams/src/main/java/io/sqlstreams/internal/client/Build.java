package io.sqlstreams.internal.client;

import io.sqlstreams.internal.fleet.FleetTiming;
import io.sqlstreams.internal.schema.Steps;

/**
 * What a build of the library knows and does.
 *
 * @param steps the versions of the tables
 * @param duties the background work
 * @param timing how its manager counts time
 */
public record Build(Steps steps, Duties.Source duties, FleetTiming timing) {
  /** This one. */
  public static final Build CURRENT =
      new Build(Steps.ofThisBuild(), Duties::of, FleetTiming.DEFAULT);

  /** This build, if it knew these versions of the tables. */
  public static Build of(Steps steps) {
    return new Build(steps, CURRENT.duties(), CURRENT.timing());
  }
}
