package io.sqlstreams.internal.migration;

import io.sqlstreams.MigrationStep;
import io.sqlstreams.TablesVersion;
import io.sqlstreams.config.Migration;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.schema.PatientTransaction.Patience;
import io.sqlstreams.internal.schema.Step;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Brings the tables of an installation from version to version, while others work on them. Each
 * step on each stream is a transaction of its own, so neither do many streams need many locks, nor
 * does an end in the middle leave anything halfway. Thread-safe, also across processes.
 */
public final class Migrator {
  /** About 20 seconds in all: whoever holds a lock for longer holds it for long. */
  private static final Patience PATIENCE = new Patience(40, 500);

  private static final Logger log = LoggerFactory.getLogger(Migrator.class);

  private final Scope system;
  private final Steps steps;
  private final Gate gate;
  private final Versions versions;
  private final Walk walk;

  /**
   * @param system the installation
   * @param steps what this build knows
   * @param gate is told when something has changed
   */
  public Migrator(Database database, Scope system, Steps steps, Gate gate) {
    this(database, system, steps, gate, PATIENCE);
  }

  /**
   * The same with another patience.
   *
   * @param patience how often a step is tried when a lock is in its way
   */
  public Migrator(Database database, Scope system, Steps steps, Gate gate, Patience patience) {
    this.system = system;
    this.steps = steps;
    this.gate = gate;
    this.versions = new Versions(database, system);
    this.walk = new Walk(database, MigrationSql.LOCK.in(system), patience);
  }

  /** The versions of all tables, the control plane first. */
  public List<TablesVersion> status() {
    return versions.all().stream()
        .map(tables -> tables.toApi(steps.newest(tables.scope())))
        .toList();
  }

  /**
   * Takes the steps that are left. A stream whose tables stay locked holds up no other; it is named
   * at the end.
   *
   * @return the steps that were taken here, in order
   */
  public List<MigrationStep> migrate(Migration target) {
    Plan plan = new Plan(steps, target);
    List<MigrationStep> taken = new ArrayList<>();
    Set<Scope> stuck = new HashSet<>();
    List<DatabaseException> reasons = new ArrayList<>();
    try {
      while (pass(plan, taken, stuck, reasons)) {
        // an older build may have registered a stream meanwhile
      }
    } finally {
      gate.forget();
    }
    if (!reasons.isEmpty()) {
      throw incomplete(reasons);
    }
    return taken;
  }

  /** Walks once through all tables, and says whether it took any step. */
  private boolean pass(
      Plan plan, List<MigrationStep> taken, Set<Scope> stuck, List<DatabaseException> reasons) {
    int before = taken.size();
    for (Tables tables : plan.inOrder(versions.all())) {
      if (stuck.contains(tables.where())) {
        continue;
      }
      try {
        for (Step step : plan.of(tables)) {
          take(tables, step, plan.target().down(), taken);
        }
      } catch (DatabaseException e) {
        // nothing else waits for a stream, but all of them may need the control plane
        if (e.code() != ErrorCode.CONTENTION || tables.stream() == null) {
          throw e;
        }
        stuck.add(tables.where());
        reasons.add(e);
      }
    }
    return taken.size() > before;
  }

  private void take(Tables tables, Step step, boolean down, List<MigrationStep> taken) {
    boolean done = down ? walk.down(tables, step) : walk.up(tables, step);
    if (done) {
      taken.add(new MigrationStep(tables.scope(), tables.stream(), step.version(), down));
      log.info(
          "{}: version {} {}", tables.subject(), step.version(), down ? "taken back" : "applied");
    }
  }

  private static DatabaseException incomplete(List<DatabaseException> reasons) {
    if (reasons.size() == 1) {
      return reasons.get(0);
    }
    DatabaseException first = reasons.get(0);
    return new DatabaseException(
        first.code(),
        reasons.size()
            + " streams couldn't be migrated, all others are: "
            + first.getMessage()
            + " (the first of them; 'sqlstreams migrate status' lists all)",
        first.sqlState(),
        first);
  }

  /** The scripts that do by hand what {@link #migrate} would do now, each a transaction. */
  public List<String> scripts(Migration target) {
    Plan plan = new Plan(steps, target);
    List<Tables> all;
    try {
      all = plan.inOrder(versions.all());
    } catch (NotInstalledException e) {
      return target.down() ? List.of() : List.of(Script.install(steps, system));
    }
    List<String> scripts = new ArrayList<>();
    for (Tables tables : all) {
      for (Step step : plan.of(tables)) {
        scripts.add(Script.of(tables, step, target.down()));
      }
    }
    return scripts;
  }
}
