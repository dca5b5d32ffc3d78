package io.sqlstreams.internal.catalog;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.SystemInfo;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.fleet.Declarations;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.schema.Installer;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Optional;

/** Installs, renames and destroys an installation. Thread-safe. */
public final class SystemRegistry {
  private final Database database;
  private final Scope system;
  private final Installer installer;
  private final Partitions partitions;
  private final Catalog catalog;
  private final Declarations workers;

  /**
   * @param system the installation
   */
  public SystemRegistry(
      Database database,
      Scope system,
      Installer installer,
      Partitions partitions,
      Catalog catalog,
      Declarations workers) {
    this.database = database;
    this.system = system;
    this.installer = installer;
    this.partitions = partitions;
    this.catalog = catalog;
    this.workers = workers;
  }

  /** Creates the control plane unless it is there. */
  public SystemInfo register() {
    String what = "install SQLStreams into schema \"" + system.schema() + "\"";
    Optional<SystemInfo> found =
        database.autoCommitted(
            what, c -> installer.isInstalled(c) ? catalog.requireSystem(c) : Optional.empty());
    return found.orElseGet(
        () ->
            installer.exclusively(
                what,
                connection -> {
                  installer.install(connection);
                  workers.ofSystem(connection);
                  return require(connection);
                }));
  }

  /**
   * Gives the installation another name.
   *
   * @throws NotInstalledException when there is none
   */
  public SystemInfo rename(String name) {
    Names.require(name);
    return database.inTransaction(
        "rename the installation in schema \"" + system.schema() + "\"",
        connection -> {
          try (Call call = RegistrySql.RENAME_SYSTEM.in(system).on(connection)) {
            call.set("name", name).update();
          }
          return require(connection);
        });
  }

  /** Drops every family, the control plane, and the schema unless something of others is in it. */
  public void destroy() {
    installer.dropping(
        "destroy the installation in schema \"" + system.schema() + "\"", this::destroy);
  }

  private boolean destroy(Connection connection) throws SQLException {
    if (!installer.isInstalled(connection)) {
      return false;
    }
    for (StreamInfo stream : catalog.streams(connection)) {
      partitions.dropDetached(connection, stream.id());
      installer.dropFamily(connection, stream.id());
    }
    installer.uninstall(connection);
    return true;
  }

  private SystemInfo require(Connection connection) throws SQLException {
    return catalog
        .requireSystem(connection)
        .orElseThrow(() -> new NotInstalledException(system.schema()));
  }
}
