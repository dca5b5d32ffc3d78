package io.sqlstreams.internal.client;

import io.sqlstreams.MigrationStep;
import io.sqlstreams.SystemHandle;
import io.sqlstreams.SystemInfo;
import io.sqlstreams.TablesVersion;
import io.sqlstreams.WorkerHandle;
import io.sqlstreams.WorkerInfo;
import io.sqlstreams.config.AccessRole;
import io.sqlstreams.config.Migration;
import java.util.List;
import java.util.Optional;

/** The installation by its schema. */
final class NamedSystem implements SystemHandle {
  private final Parts parts;
  private final String schema;

  NamedSystem(Parts parts, String schema) {
    this.parts = parts;
    this.schema = schema;
  }

  @Override
  public SystemInfo register() {
    parts.requireOpen();
    return parts.systems().register();
  }

  @Override
  public Optional<SystemInfo> get() {
    parts.requireOpen();
    return parts.catalog().system();
  }

  @Override
  public List<SystemInfo> list() {
    parts.requireOpen();
    return parts.catalog().systems();
  }

  @Override
  public SystemInfo rename(String name) {
    parts.requireOpen();
    return parts.systems().rename(name);
  }

  @Override
  public WorkerHandle worker(String name) {
    return new NamedWorker(parts, null, name);
  }

  @Override
  public List<WorkerInfo> workers() {
    parts.requireOpen();
    return parts.workers().list(null);
  }

  @Override
  public List<TablesVersion> migrations() {
    parts.requireOpen();
    return parts.migrator().status();
  }

  @Override
  public List<MigrationStep> migrate(Migration target) {
    parts.requireOpen();
    return parts.migrator().migrate(target);
  }

  @Override
  public List<String> migrationSql(Migration target) {
    parts.requireOpen();
    return parts.migrator().scripts(target);
  }

  @Override
  public List<String> grants(AccessRole access, String role) {
    parts.requireOpen();
    return parts.grants().of(access, role, null);
  }

  @Override
  public List<String> grants(AccessRole access, String role, String stream) {
    parts.requireOpen();
    return parts.grants().of(access, role, stream);
  }

  @Override
  public void destroy() {
    parts.requireDestroyAllowed("the installation in schema \"" + schema + "\"");
    parts.systems().destroy();
  }
}
