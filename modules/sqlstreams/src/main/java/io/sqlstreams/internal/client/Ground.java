package io.sqlstreams.internal.client;

import io.sqlstreams.internal.catalog.Catalog;
import io.sqlstreams.internal.migration.Gate;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import javax.sql.DataSource;

/**
 * What everything else of a client stands on.
 *
 * @param system the installation
 * @param steps the versions of the tables that this build knows
 * @param gate keeps it from tables that it can't work on
 * @param catalog what is registered
 * @param waking tells consumers of news
 */
public record Ground(
    Database database, Scope system, Steps steps, Gate gate, Catalog catalog, Waking waking) {
  static Ground of(DataSource dataSource, ClientSettings settings, Steps steps) {
    Scope system = Scope.system(settings.schema());
    Database database = new Database(dataSource, settings.schema());
    Gate gate = new Gate(system, steps);
    return new Ground(
        database,
        system,
        steps,
        gate,
        new Catalog(database, system, gate),
        Waking.of(database, system, settings));
  }
}
