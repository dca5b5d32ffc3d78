package io.sqlstreams.internal.catalog;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotRetainedException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.document.GroupDocument;
import io.sqlstreams.internal.position.Positions;
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
import org.jspecify.annotations.Nullable;
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
          RegistrySql.DELETE_EXCEPTIONS,
          RegistrySql.DELETE_DELIVERIES,
          RegistrySql.DELETE_OPERATIONS);

  private final Database database;
  private final Scope system;
  private final Installer installer;
  private final Catalog catalog;
  private final Positions positions;

  /**
   * @param system the installation
   */
  public GroupRegistry(
      Database database, Scope system, Installer installer, Catalog catalog, Positions positions) {
    this.database = database;
    this.system = system;
    this.installer = installer;
    this.catalog = catalog;
    this.positions = positions;
  }

  /**
   * Creates the group, or brings it to this declaration; its start counts at creation alone. Takes
   * no lock and writes nothing when it is there and equal.
   *
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws InvalidInputException when a new group is to start after an id above the newest one
   * @throws NotRetainedException when a new group is to start at messages that are dropped already
   */
  public GroupInfo register(String stream, String name, GroupConfig config) {
    Names.require(name);
    String what = "register group \"" + name + "\" of stream \"" + stream + "\"";
    Found found =
        database.autoCommitted(what, connection -> find(connection, stream, name, config));
    if (found.group() != null && isEqual(found.group(), config)) {
      return found.group();
    }
    Declaration declaration =
        installer.exclusively(
            what,
            connection ->
                declare(
                    connection, catalog.requireStream(connection, stream), name, config, found));
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

  /** The group, or where it would begin: that may take a while, so it is found without a lock. */
  private Found find(Connection connection, String stream, String name, GroupConfig config)
      throws SQLException {
    StreamInfo in = catalog.requireStream(connection, stream);
    Optional<GroupInfo> group = catalog.group(connection, in, name);
    return group.isPresent()
        ? new Found(in.id(), group.get(), null)
        : new Found(in.id(), null, positions.ofNewGroup(connection, in, config.start()));
  }

  private static boolean isEqual(GroupInfo registered, GroupConfig declared) {
    return registered.config().equals(declared.withStart(registered.config().start()));
  }

  private Declaration declare(
      Connection connection, StreamInfo stream, String name, GroupConfig config, Found earlier)
      throws SQLException {
    Optional<GroupInfo> found = catalog.group(connection, stream, name);
    if (found.isEmpty()) {
      GroupInfo created = create(connection, stream, name, config, earlier);
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
      Connection connection, StreamInfo stream, String name, GroupConfig config, Found earlier)
      throws SQLException {
    @Nullable Long found = earlier.positionIn(stream);
    long position =
        found == null ? positions.ofNewGroup(connection, stream, config.start()) : found;
    positions.requireRetained(connection, stream, config.start(), position);
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
      call.set("group_id", group.id()).set("position", position).update();
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

  /**
   * What was there before anything was locked.
   *
   * @param streamId the stream that had the name
   * @param group the group; null when there was none
   * @param position where it would have begun; null when there was one
   */
  private record Found(long streamId, @Nullable GroupInfo group, @Nullable Long position) {
    @Nullable Long positionIn(StreamInfo stream) {
      return stream.id() == streamId ? position : null;
    }
  }

  private record Declaration(GroupInfo before, GroupInfo now) {
    void log(String stream) {
      if (!before.config().equals(now.config())) {
        LOG.info(
            "group \"{}\" of stream \"{}\": {} -> {}",
            now.name(),
            stream,
            GroupDocument.write(before.config()),
            GroupDocument.write(now.config()));
      }
    }
  }
}
