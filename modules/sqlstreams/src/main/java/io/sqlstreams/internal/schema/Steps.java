package io.sqlstreams.internal.schema;

import io.sqlstreams.config.MigrationScope;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * Every version of the tables that a build knows. New tables are made by taking all steps, so that
 * those and migrated ones are the same. A step that was released is never changed. Immutable.
 */
public final class Steps {
  private static final Steps OF_THIS_BUILD =
      new Steps(
          List.of(
              new Step(1, MigrationScope.SYSTEM, SystemTables.CREATE, null, 1),
              new Step(1, MigrationScope.STREAM, StreamTables.CREATE, null, 1)));

  private final List<Step> system;
  private final List<Step> stream;

  private Steps(List<Step> steps) {
    this.system = inOrder(steps, MigrationScope.SYSTEM);
    this.stream = inOrder(steps, MigrationScope.STREAM);
  }

  /** Those of this build. */
  public static Steps ofThisBuild() {
    return OF_THIS_BUILD;
  }

  /** Those of a later build, which has these as well. */
  public Steps and(List<Step> later) {
    List<Step> all = new ArrayList<>(system);
    all.addAll(stream);
    all.addAll(later);
    return new Steps(all);
  }

  /** The steps of this scope, from version 1 on. */
  public List<Step> of(MigrationScope scope) {
    return scope == MigrationScope.SYSTEM ? system : stream;
  }

  /** The newest version of this scope. */
  public int newest(MigrationScope scope) {
    return of(scope).size();
  }

  private static List<Step> inOrder(List<Step> steps, MigrationScope scope) {
    List<Step> ordered =
        steps.stream()
            .filter(step -> step.scope() == scope)
            .sorted(Comparator.comparingInt(Step::version))
            .toList();
    int oldestBuild = 1;
    for (int i = 0; i < ordered.size(); i++) {
      Step step = ordered.get(i);
      if (step.version() != i + 1
          || step.minCompatibleVersion() < oldestBuild
          || step.minCompatibleVersion() > step.version()) {
        throw new IllegalArgumentException("step " + step.version() + " of " + scope);
      }
      oldestBuild = step.minCompatibleVersion();
    }
    return ordered;
  }
}
