package io.sqlstreams.internal.client;

import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.util.List;

/** The background work that this build knows to do. */
final class Duties {
  private Duties() {}

  /** One object for each kind of worker, for this installation. */
  static List<Duty> of(Database database, Scope system) {
    return List.of();
  }
}
