package io.sqlstreams.internal.catalog;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Start;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.document.GroupDocument;
import io.sqlstreams.internal.schema.Installer;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Declares, renames and destroys consumer groups. Thread-safe. */
public final class GroupRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(GroupRegistry.class);

  /** The leases before the exceptions; see {@link RegistrySql#DELETE_CLAIM_LEASES}. */
  private static final List<Template> DELETES =
      List.of(
          RegistrySql.DELETE_GROUP,
          RegistrySql.DELETE_CLAIM_LEASES,
          RegistrySql.DELETE_MESSAGE_KEY_LEASES,
          RegistrySql.DELETE_EXCEPTIONS,
          RegistrySql.DELETE_DELIVERIES,
          RegistrySql.DELETE_OPERATIONS);

  private final Database database;
  private final Scope system;
  private final Installer installer;
  private final Catalog catalog;

  /**
   * @param system the installation
   */
  public GroupRegistry(Database database, Scope system, Installer installer, Catalog catalog) {
    this.database = database;
    this.system = system;
    this.installer = installer;
    this.catalog = catalog;
  }

  /**
   * Creates the group, or brings it to this declaration; its start counts at creation alone. Takes
   * no lock and writes nothing when it is there and equal.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   */
  public GroupInfo register(String stream, String name, GroupConfig config) {
    Names.require(name);
    String what = "register group \"" + name + "\" of stream \"" + stream + "\"";
    Optional<GroupInfo> equal =
        database.autoCommitted(
            what,
            connection ->
                catalog
                    .group(connection, catalog.requireStream(connection, stream), name)
                    .filter(group -> isEqual(group, config)));
    if (equal.isPresent()) {
      return equal.get();
    }
    Declaration declaration =
        installer.exclusively(
            what,
            connection ->
                declare(connection, catalog.requireStream(connection, stream), name, config));
    declaration.log(stream);
    return declaration.now();
  }

  /**
   * Gives the group another name.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws GroupNotFoundException when there is no such group
   * @throws InvalidInputException when the name is taken or breaks its rule
   */
  public GroupInfo rename(String stream, String from, String to) {
    Names.require(to);
    return installer.exclusively(
        "rename group \"" + from + "\" of stream \"" + stream + "\"",
        connection -> {
          GroupInfo group =
              catalog
                  .group(connection, catalog.requireStream(connection, stream), from)
                  .orElseThrow(() -> new GroupNotFoundException(stream, from));
          if (!from.equals(to)) {
            rename(connection, group, to);
          }
          return new GroupInfo(group.id(), to, group.config(), group.createdAt());
        });
  }

  /**
   * Drops the group with its position, leases and exceptions; does nothing when there is none.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   */
  public void destroy(String stream, String name) {
    installer.exclusively(
        "destroy group \"" + name + "\" of stream \"" + stream + "\"",
        connection -> {
          StreamInfo of = catalog.requireStream(connection, stream);
          Optional<GroupInfo> found = catalog.group(connection, of, name);
          if (found.isPresent()) {
            for (Template delete : DELETES) {
              write(connection, delete, of, found.get().id());
            }
          }
          return found.isPresent();
        });
  }

  private static boolean isEqual(GroupInfo registered, GroupConfig declared) {
    return registered.config().equals(declared.withStart(registered.config().start()));
  }

  private Declaration declare(
      Connection connection, StreamInfo stream, String name, GroupConfig config)
      throws SQLException {
    Optional<GroupInfo> found = catalog.group(connection, stream, name);
    if (found.isEmpty()) {
      GroupInfo created = create(connection, stream, name, config);
      return new Declaration(created, created);
    }
    GroupInfo before = found.get();
    if (isEqual(before, config)) {
      return new Declaration(before, before);
    }
    writeSettings(connection, RegistrySql.UPDATE_WORKER, stream, before.id(), config);
    GroupConfig now = config.withStart(before.config().start());
    return new Declaration(
        before, new GroupInfo(before.id(), before.name(), now, before.createdAt()));
  }

  private GroupInfo create(
      Connection connection, StreamInfo stream, String name, GroupConfig config)
      throws SQLException {
    GroupInfo group;
    try (Call call = RegistrySql.INSERT_GROUP.in(system).on(connection)) {
      call.set("stream_id", stream.id())
          .set("name", name)
          .set("start_position", config.start().toString());
      try (ResultSet row = call.query()) {
        row.next();
        group = new GroupInfo(row.getLong("id"), name, config, Rows.createdAt(row));
      }
    }
    Scope family = system.stream(stream.id());
    try (Call call = RegistrySql.INSERT_CURSOR.in(family).on(connection)) {
      call.set("group_id", group.id()).set("at_head", config.start() == Start.HEAD).update();
    }
    writeSettings(connection, RegistrySql.INSERT_WORKER, stream, group.id(), config);
    return group;
  }

  private void writeSettings(
      Connection connection, Template write, StreamInfo stream, long groupId, GroupConfig config)
      throws SQLException {
    try (Call call = write.in(system).on(connection)) {
      call.set("group_id", groupId).set("metadata", GroupDocument.write(config)).update();
    }
    write(connection, RegistrySql.LOG_WORKER, stream, groupId);
  }

  private void rename(Connection connection, GroupInfo group, String to) throws SQLException {
    try (Call call = RegistrySql.RENAME_GROUP.in(system).on(connection)) {
      call.set("group_id", group.id()).set("name", to).update();
    } catch (SQLException e) {
      if (SqlErrors.state(e).equals(SqlErrors.UNIQUE_VIOLATION)) {
        throw new InvalidInputException(
            "name", "\"" + to + "\" is another group's of this stream: choose a free one", e);
      }
      throw e;
    }
  }

  private void write(Connection connection, Template statement, StreamInfo stream, long groupId)
      throws SQLException {
    try (Call call = statement.in(system.stream(stream.id())).on(connection)) {
      call.set("group_id", groupId).update();
    }
  }

  private record Declaration(GroupInfo before, GroupInfo now) {
    void log(String stream) {
      if (!before.config().equals(now.config())) {
        LOG.info(
            "group \"{}\" of stream \"{}\": {} -> {}",
            now.name(),
            stream,
            before.config(),
            now.config());
      }
    }
  }
}
