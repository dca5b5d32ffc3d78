package io.sqlstreams;

import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import java.util.List;
import java.util.Optional;

/**
 * The installation in the client's schema. Thread-safe. Every method works in a transaction of its
 * own and throws {@link DatabaseException} when the database can't be reached or refuses.
 */
public interface SystemHandle {
  /**
   * Creates the schema and its control-plane tables unless they are there. Safe when many processes
   * do it at once. The first {@link StreamHandle#register} does it too.
   */
  SystemInfo register();

  /** The installation; empty when the schema holds none. */
  Optional<SystemInfo> get();

  /** Every installation in this database that this role can see, by schema name. */
  List<SystemInfo> list();

  /**
   * Gives the installation another name, for people. The schema keeps its name.
   *
   * @param name 1 to 200 letters, digits, dots, underscores or hyphens; a letter or digit first
   * @throws InvalidInputException when the name breaks the rule
   * @throws NotInstalledException when the schema holds no installation
   */
  SystemInfo rename(String name);

  /**
   * A background worker of the system by its name, such as {@code cursor_advancer}. No I/O.
   *
   * @param name the worker's name
   */
  WorkerHandle worker(String name);

  /**
   * The background workers of the system, by name.
   *
   * @throws NotInstalledException when the schema holds no installation
   */
  List<WorkerInfo> workers();

  /**
   * Drops every table of the installation, every stream and message with them, and then the schema
   * if nothing of others is in it. Does nothing when there is none.
   *
   * @throws DestroyNotAllowedException when the client doesn't allow it
   */
  void destroy();
}
