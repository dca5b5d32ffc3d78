package io.sqlstreams.internal.catalog;

import io.sqlstreams.GroupBindings;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.SystemInfo;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.error.VersionMismatchException;
import io.sqlstreams.internal.migration.Gate;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import io.sqlstreams.internal.sql.Statement;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads what is registered in one installation. Thread-safe; it remembers nothing. */
public final class Catalog {
  private final Database database;
  private final Scope system;
  private final Gate gate;
  private final Statement findStream;
  private final Statement listStreams;

  /**
   * @param system the installation
   * @param gate refuses tables that this build can't work on
   */
  public Catalog(Database database, Scope system, Gate gate) {
    this.database = database;
    this.system = system;
    this.gate = gate;
    this.findStream = CatalogSql.STREAM.in(system);
    this.listStreams = CatalogSql.STREAMS.in(system);
  }

  /** The installation; empty when the schema holds none. */
  public Optional<SystemInfo> system() {
    try {
      return database.autoCommitted("read the installation", c -> system(c, system));
    } catch (NotInstalledException e) {
      return Optional.empty();
    }
  }

  /** Every installation in the database that this role can see, by schema. */
  public List<SystemInfo> systems() {
    return database.autoCommitted(
        "list the installations",
        connection -> {
          List<SystemInfo> systems = new ArrayList<>();
          for (String schema : installedSchemas(connection)) {
            try {
              system(connection, Scope.system(schema)).ifPresent(systems::add);
            } catch (SQLException e) {
              if (!SqlErrors.isUndefinedTable(e)) { // destroyed meanwhile
                throw e;
              }
            }
          }
          return systems;
        });
  }

  /** The stream of this name; empty when there is none, or no installation at all. */
  public Optional<StreamInfo> stream(String name) {
    try {
      return Names.isValid(name)
          ? database.autoCommitted(subject(name), connection -> stream(connection, name))
          : Optional.empty();
    } catch (NotInstalledException e) {
      return Optional.empty();
    }
  }

  /**
   * The stream of this name.
   *
   * @throws StreamNotFoundException when it isn't registered
   * @throws NotInstalledException when the schema holds no installation
   */
  public StreamInfo requireStream(String name) {
    return database.autoCommitted(subject(name), connection -> requireStream(connection, name));
  }

  /**
   * Every stream, by name.
   *
   * @throws NotInstalledException when the schema holds no installation
   */
  public List<StreamInfo> streams() {
    return database.autoCommitted("list the streams", this::streams);
  }

  /** The stream's group of this name; empty when there is none. */
  public Optional<GroupInfo> group(StreamInfo stream, String name) {
    return database.autoCommitted(
        subject(stream.name(), name), connection -> group(connection, stream, name));
  }

  /**
   * The stream's group of this name.
   *
   * @throws GroupNotFoundException when it isn't registered
   */
  public GroupInfo requireGroup(StreamInfo stream, String name) {
    return group(stream, name).orElseThrow(() -> new GroupNotFoundException(stream.name(), name));
  }

  /** Every group of the stream, by name. */
  public List<GroupInfo> groups(StreamInfo stream) {
    return database.autoCommitted(
        "list the groups of stream \"" + stream.name() + "\"",
        connection -> {
          try (Call call = CatalogSql.GROUPS.in(system.stream(stream.id())).on(connection);
              ResultSet row = call.set("stream_id", stream.id()).query()) {
            List<GroupInfo> groups = new ArrayList<>();
            while (row.next()) {
              groups.add(Rows.group(row));
            }
            return groups;
          } catch (SQLException e) {
            throw goneOr(e, stream);
          }
        });
  }

  /**
   * What the group reads, and from where on.
   *
   * @throws GroupNotFoundException when it was destroyed meanwhile
   * @throws StreamNotFoundException when its stream was
   */
  public GroupBindings bindings(StreamInfo stream, GroupInfo group) {
    return database.autoCommitted(
        subject(stream.name(), group.name()),
        connection -> {
          try (Call call = CatalogSql.FILTER.in(system.stream(stream.id())).on(connection);
              ResultSet row = call.set("group_id", group.id()).query()) {
            if (!row.next()) {
              throw new GroupNotFoundException(stream.name(), group.name());
            }
            return new GroupBindings(
                Rows.bindings(row),
                Rows.schemaVersions(row),
                row.getBoolean("is_waiting")
                    ? GroupBindings.State.WAITING
                    : GroupBindings.State.INSTALLED,
                row.getLong("filter_above"),
                Instants.orNull(row, "declared_at"));
          } catch (SQLException e) {
            throw goneOr(e, stream);
          }
        });
  }

  /**
   * The stream in a row of {@code stream_config}, all of whose columns are there but those of its
   * ownership.
   */
  public static StreamInfo readStream(ResultSet row) throws SQLException {
    return Rows.stream(row);
  }

  Optional<StreamInfo> stream(Connection connection, String name) throws SQLException {
    if (!Names.isValid(name)) {
      return Optional.empty();
    }
    gate.requireSystem(connection);
    Optional<StreamInfo> stream;
    try (Call call = findStream.on(connection);
        ResultSet row = call.set("name", name).query()) {
      stream = row.next() ? Optional.of(Rows.stream(row)) : Optional.empty();
    }
    if (stream.isPresent()) {
      gate.requireStream(connection, stream.get().id(), name);
    }
    return stream;
  }

  /** The stream with this id, as this connection's transaction sees it; empty when it is gone. */
  public Optional<StreamInfo> stream(Connection connection, long id) throws SQLException {
    try (Call call = CatalogSql.STREAM_BY_ID.in(system).on(connection);
        ResultSet row = call.set("stream_id", id).query()) {
      return row.next() ? Optional.of(Rows.stream(row)) : Optional.empty();
    }
  }

  /**
   * The stream of this name, as this connection's transaction sees it.
   *
   * @throws StreamNotFoundException when it isn't registered
   */
  public StreamInfo requireStream(Connection connection, String name) throws SQLException {
    return stream(connection, name).orElseThrow(() -> new StreamNotFoundException(name));
  }

  /**
   * The same on a caller's connection, who may hold the pool's last; what the database refuses is
   * translated.
   */
  public StreamInfo requireStreamOn(Connection connection, String name) {
    try {
      return database.borrowing(connection, borrowed -> requireStream(borrowed, name));
    } catch (SQLException e) {
      throw SqlErrors.translate(subject(name), system.schema(), e);
    }
  }

  List<StreamInfo> streams(Connection connection) throws SQLException {
    gate.requireSystem(connection);
    try (Call call = listStreams.on(connection);
        ResultSet row = call.query()) {
      List<StreamInfo> streams = new ArrayList<>();
      while (row.next()) {
        streams.add(Rows.stream(row));
      }
      return streams;
    }
  }

  Optional<GroupInfo> group(Connection connection, StreamInfo stream, String name)
      throws SQLException {
    if (!Names.isValid(name)) {
      return Optional.empty();
    }
    try (Call call = CatalogSql.GROUP.in(system.stream(stream.id())).on(connection);
        ResultSet row = call.set("stream_id", stream.id()).set("name", name).query()) {
      return row.next() ? Optional.of(Rows.group(row)) : Optional.empty();
    } catch (SQLException e) {
      throw goneOr(e, stream);
    }
  }

  /**
   * The same error.
   *
   * @throws StreamNotFoundException when it says that the stream's tables are gone
   */
  private static SQLException goneOr(SQLException error, StreamInfo stream) {
    if (SqlErrors.isUndefinedTable(error)) {
      throw new StreamNotFoundException(stream.name());
    }
    return error;
  }

  /**
   * The installation, which this build can work on.
   *
   * @throws VersionMismatchException when it can't
   */
  Optional<SystemInfo> requireSystem(Connection connection) throws SQLException {
    gate.requireSystem(connection);
    return system(connection, system);
  }

  static Optional<SystemInfo> system(Connection connection, Scope scope) throws SQLException {
    try (Call call = CatalogSql.SYSTEM.in(scope).on(connection);
        ResultSet row = call.query()) {
      return row.next()
          ? Optional.of(
              new SystemInfo(
                  scope.schema(),
                  row.getString("name"),
                  row.getInt("version"),
                  Rows.createdAt(row)))
          : Optional.empty();
    }
  }

  private List<String> installedSchemas(Connection connection) throws SQLException {
    try (Call call = CatalogSql.INSTALLED_SCHEMAS.in(system).on(connection);
        ResultSet row = call.query()) {
      List<String> schemas = new ArrayList<>();
      while (row.next()) {
        schemas.add(row.getString("schema"));
      }
      return schemas;
    }
  }

  private static String subject(String stream) {
    return "read stream \"" + stream + "\"";
  }

  private static String subject(String stream, String group) {
    return "read group \"" + group + "\" of stream \"" + stream + "\"";
  }
}
