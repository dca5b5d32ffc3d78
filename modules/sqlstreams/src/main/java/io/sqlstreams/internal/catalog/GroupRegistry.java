package io.sqlstreams.internal.catalog;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.Binding;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotRetainedException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.document.BindingDocument;
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
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Declares, renames and destroys consumer groups. Thread-safe. */
public final class GroupRegistry {
  private static final Logger LOG = LoggerFactory.getLogger(GroupRegistry.class);

  /** A thousand bindings aren't for a line of a log; {@code binding_config_log} has them all. */
  private static final int MOST_LOGGED = 2_000;

  /**
   * The cursor before the leases, those before the exceptions; see {@link
   * RegistrySql#DELETE_CLAIM_LEASES}.
   */
  private static final List<Template> DELETES =
      List.of(
          RegistrySql.DELETE_GROUP,
          RegistrySql.DELETE_CURSOR,
          RegistrySql.DELETE_CLAIM_LEASES,
          RegistrySql.DELETE_EXCEPTIONS,
          RegistrySql.DELETE_DELIVERIES,
          RegistrySql.DELETE_OPERATIONS,
          RegistrySql.DELETE_BINDINGS,
          RegistrySql.DELETE_BINDING_LOG);

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
   * no lock and writes nothing when it is there and equal; but that its bindings were declared
   * again is noted the first time.
   *
   * @param schemaVersions the versions that it reads, ascending; null when the declaration says
   *     nothing of them: a new group reads all, one that is there what it has read so far
   * @throws StreamNotFoundException when the stream isn't registered
   * @throws InvalidInputException when a new group is to start after an id above the newest one
   * @throws NotRetainedException when a new group is to start at messages that are dropped already
   */
  public GroupInfo register(
      String stream, String name, GroupConfig config, @Nullable List<Integer> schemaVersions) {
    Names.require(name);
    String what = "register group \"" + name + "\" of stream \"" + stream + "\"";
    Found found =
        database.autoCommitted(what, connection -> find(connection, stream, name, config));
    if (found.group() != null
        && found.isNoted()
        && isEqual(found.group(), config, schemaVersions)) {
      return found.group();
    }
    Declaration declaration =
        installer.exclusively(
            what,
            connection ->
                declare(
                    connection,
                    catalog.requireStream(connection, stream),
                    name,
                    config,
                    schemaVersions,
                    found));
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
          return new GroupInfo(
              group.id(), to, group.config(), group.schemaVersions(), group.createdAt());
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
    if (group.isEmpty()) {
      return new Found(in.id(), null, false, positions.ofNewGroup(connection, in, config.start()));
    }
    boolean isNoted =
        config.bindings().isEmpty()
            || BindingWriter.isRepeated(connection, system.stream(in.id()), group.get().id());
    return new Found(in.id(), group.get(), isNoted, null);
  }

  private static boolean isEqual(
      GroupInfo registered, GroupConfig declared, @Nullable List<Integer> schemaVersions) {
    return registered.config().equals(declared.withStart(registered.config().start()))
        && (schemaVersions == null || schemaVersions.equals(registered.schemaVersions()));
  }

  private Declaration declare(
      Connection connection,
      StreamInfo stream,
      String name,
      GroupConfig config,
      @Nullable List<Integer> schemaVersions,
      Found earlier)
      throws SQLException {
    Optional<GroupInfo> found = catalog.group(connection, stream, name);
    if (found.isEmpty()) {
      List<Integer> versions = schemaVersions == null ? List.of() : schemaVersions;
      GroupInfo created = create(connection, stream, name, config, versions, earlier);
      return new Declaration(created, created);
    }
    GroupInfo before = found.get();
    GroupInfo now =
        new GroupInfo(
            before.id(),
            before.name(),
            config.withStart(before.config().start()),
            schemaVersions == null ? before.schemaVersions() : schemaVersions,
            before.createdAt());
    if (!GroupDocument.write(before.config()).equals(GroupDocument.write(config))) {
      writeSettings(connection, RegistrySql.UPDATE_WORKER, stream, before.id(), config);
    }
    declareFilter(connection, system.stream(stream.id()), before, now);
    return new Declaration(before, now);
  }

  private static void declareFilter(
      Connection connection, Scope family, GroupInfo before, GroupInfo now) throws SQLException {
    Set<Binding> bindings = now.config().bindings();
    if (!bindings.equals(before.config().bindings())
        || !now.schemaVersions().equals(before.schemaVersions())) {
      BindingWriter.change(connection, family, now.id(), bindings, now.schemaVersions());
    } else if (!bindings.isEmpty()) {
      BindingWriter.repeat(connection, family, now.id());
    }
  }

  private GroupInfo create(
      Connection connection,
      StreamInfo stream,
      String name,
      GroupConfig config,
      List<Integer> schemaVersions,
      Found earlier)
      throws SQLException {
    @Nullable Long found = earlier.positionIn(stream);
    positions.hold(connection, stream);
    long position =
        positions.retained(
            connection,
            stream,
            config.start(),
            found == null ? positions.ofNewGroup(connection, stream, config.start()) : found);
    GroupInfo group;
    try (Call call = RegistrySql.INSERT_GROUP.in(system).on(connection)) {
      call.set("stream_id", stream.id())
          .set("name", name)
          .set("start_position", config.start().toString());
      try (ResultSet row = call.query()) {
        row.next();
        group = new GroupInfo(row.getLong("id"), name, config, schemaVersions, Rows.createdAt(row));
      }
    }
    Scope family = system.stream(stream.id());
    try (Call call = RegistrySql.INSERT_CURSOR.in(family).on(connection)) {
      call.set("group_id", group.id()).set("position", position).update();
    }
    writeSettings(connection, RegistrySql.INSERT_WORKER, stream, group.id(), config);
    BindingWriter.change(connection, family, group.id(), config.bindings(), schemaVersions);
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
   * @param isNoted whether nothing has to be noted when its bindings are declared again
   * @param position where it would have begun; null when there was one
   */
  private record Found(
      long streamId, @Nullable GroupInfo group, boolean isNoted, @Nullable Long position) {
    @Nullable Long positionIn(StreamInfo stream) {
      return stream.id() == streamId ? position : null;
    }
  }

  private record Declaration(GroupInfo before, GroupInfo now) {
    void log(String stream) {
      log(stream, "", GroupDocument.write(before.config()), GroupDocument.write(now.config()));
      log(
          stream,
          "bindings ",
          BindingDocument.write(before.config().bindings()),
          BindingDocument.write(now.config().bindings()));
      log(stream, "schema versions ", versions(before), versions(now));
    }

    private void log(String stream, String what, String from, String to) {
      if (!from.equals(to)) {
        LOG.info(
            "group \"{}\" of stream \"{}\": {}{} -> {}",
            now.name(),
            stream,
            what,
            cut(from),
            cut(to));
      }
    }

    private static String versions(GroupInfo group) {
      return group.schemaVersions().isEmpty() ? "all" : group.schemaVersions().toString();
    }

    private static String cut(String document) {
      return document.length() <= MOST_LOGGED
          ? document
          : document.substring(0, MOST_LOGGED) + "...";
    }
  }
}
