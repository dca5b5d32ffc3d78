package io.sqlstreams;

import io.sqlstreams.config.AccessRole;
import io.sqlstreams.config.Migration;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.error.VersionMismatchException;
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
   * The versions of all tables: the control plane first, then each stream's by its id. Reads only;
   * also what this build can't work on.
   *
   * @throws NotInstalledException when the schema holds no installation
   */
  List<TablesVersion> migrations();

  /**
   * Brings the tables from version to version, while others work on them. Each step on each stream
   * is a transaction of its own; an end in the middle leaves no tables halfway, and the next call
   * goes on. A step that meets a lock gives way after 0.3 s and tries again, for about 20 s in all.
   * A stream whose tables stay locked for longer holds up no other. Safe when several processes do
   * it at once. Needs the role that owns the tables.
   *
   * @return the steps that were taken by this call, in order; empty when there was nothing to do
   * @throws InvalidInputException when the target isn't known to this build, or there is no way
   *     back to it; nothing was changed
   * @throws VersionMismatchException when tables are to go down from a version that this build
   *     doesn't know
   * @throws DatabaseException with {@link io.sqlstreams.error.ErrorCode#CONTENTION} when some
   *     tables stayed locked, all others being done
   * @throws NotInstalledException when the schema holds no installation
   */
  List<MigrationStep> migrate(Migration target);

  /**
   * The SQL that does by hand what {@link #migrate} would do now: a script for each step, which is
   * a transaction, records itself, and fails without effect on tables of another version. Where
   * there is no installation, the script that makes one. Changes nothing.
   *
   * @throws InvalidInputException as {@link #migrate}
   * @throws VersionMismatchException as {@link #migrate}
   */
  List<String> migrationSql(Migration target);

  /**
   * The statements that give a database role what it needs, to be run by the owner of the tables,
   * or by a superuser. They change nothing by themselves, and may be run again. Those of an
   * application hold for streams that are registered later as well; those of a producer and of a
   * monitor name each stream's tables, so they are to be run again after a stream was registered.
   *
   * @param access what the role is to do
   * @param role the role's name: 1 to 63 bytes of UTF-8, without quotes, backslashes and control
   *     characters
   * @throws InvalidInputException when the name breaks the rule or is one of PostgreSQL's own, and
   *     for {@link AccessRole#MAINTENANCE} when a superuser owns the tables, since it would become
   *     one
   * @throws NotInstalledException when the schema holds no installation, unless for {@link
   *     AccessRole#INSTALLER}
   */
  List<String> grants(AccessRole access, String role);

  /**
   * The same for one stream alone.
   *
   * @param stream the stream's name; without effect for an installer and for maintenance, who work
   *     on all
   * @throws StreamNotFoundException when it isn't registered
   */
  List<String> grants(AccessRole access, String role, String stream);

  /**
   * Drops every table of the installation, every stream and message with them, and then the schema
   * if nothing of others is in it. Does nothing when there is none.
   *
   * @throws DestroyNotAllowedException when the client doesn't allow it
   */
  void destroy();
}
