package io.sqlstreams.internal.migration;

import io.sqlstreams.config.Migration;
import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.VersionMismatchException;
import io.sqlstreams.internal.schema.Step;
import io.sqlstreams.internal.schema.Steps;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Which steps lead some tables to where they are to be brought. Immutable.
 *
 * @param steps what this build knows
 * @param target where to
 */
record Plan(Steps steps, Migration target) {
  /**
   * @throws InvalidInputException when the target is a version that this build doesn't know, or
   *     when there is no way back to it
   */
  Plan {
    MigrationScope scope = target.scope();
    if (scope != null && target.version() > steps.newest(scope)) {
      throw new InvalidInputException(
          "version",
          target.version()
              + " isn't known for "
              + scope
              + ": this build knows 1 to "
              + steps.newest(scope));
    }
    if (scope != null && target.down()) {
      for (Step step : steps.of(scope)) {
        if (step.version() > target.version() && step.down() == null) {
          throw new InvalidInputException(
              "version", "there is no way back from version " + step.version() + " of " + scope);
        }
      }
    }
  }

  /**
   * The steps that these tables have to take, in order.
   *
   * @throws VersionMismatchException when they are to go down from a version that this build
   *     doesn't know
   */
  List<Step> of(Tables tables) {
    MigrationScope scope = tables.scope();
    if (target.scope() != null && target.scope() != scope) {
      return List.of();
    }
    int now = tables.version().version();
    int newest = steps.newest(scope);
    if (target.down()) {
      if (now > newest) {
        throw VersionMismatchException.newer(tables.subject(), now, now, newest);
      }
      return steps.of(scope).stream()
          .filter(step -> step.version() > target.version() && step.version() <= now)
          .sorted(Comparator.comparingInt(Step::version).reversed())
          .toList();
    }
    int wanted = target.scope() == null ? newest : target.version();
    return steps.of(scope).stream()
        .filter(step -> step.version() > now && step.version() <= wanted)
        .toList();
  }

  /** The control plane first on the way up, and last on the way down. */
  List<Tables> inOrder(List<Tables> all) {
    List<Tables> ordered = new ArrayList<>(all);
    if (target.down()) {
      ordered.sort(Comparator.comparing(tables -> tables.scope() == MigrationScope.SYSTEM));
    }
    return ordered;
  }
}
