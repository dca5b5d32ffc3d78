package io.sqlstreams.internal.access;

import io.sqlstreams.config.AccessRole;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Prints what a role must be granted. Changes nothing. Thread-safe. */
public final class Grants {
  private static final String WHAT = "print the grants of a role";

  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public Grants(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  private record Owner(String database, @Nullable String role, boolean isSuperuser) {}

  private record Stream(long id, String name) {}

  /**
   * The statements, in the order in which they are to be run.
   *
   * @param stream the only stream; null: every stream, and where that can be said beforehand also
   *     those that are registered later
   * @throws InvalidInputException when the role's name is refused, or when maintenance would become
   *     a superuser
   * @throws NotInstalledException when there is no installation yet, and the role isn't the one
   *     that installs it
   * @throws StreamNotFoundException when there is no such stream
   */
  public List<String> of(AccessRole access, String role, @Nullable String stream) {
    RoleName name = new RoleName(role);
    Owner owner = database.autoCommitted(WHAT, this::owner);
    GrantText text = new GrantText(system, owner.database(), name);
    if (access == AccessRole.INSTALLER) {
      return text.installer();
    }
    if (owner.role() == null) {
      throw new NotInstalledException(system.schema());
    }
    if (access == AccessRole.MAINTENANCE) {
      if (owner.isSuperuser()) {
        throw new InvalidInputException(
            "access",
            "MAINTENANCE is a member of the tables' owner, which is the superuser \""
                + owner.role()
                + "\": give the tables to a role without such rights first");
      }
      return text.maintenance(owner.role());
    }
    List<Stream> streams = database.autoCommitted(WHAT, this::streams);
    if (stream != null) {
      streams = streams.stream().filter(each -> each.name().equals(stream)).toList();
      if (streams.isEmpty()) {
        throw new StreamNotFoundException(stream);
      }
    }
    List<Long> ids = streams.stream().map(Stream::id).toList();
    return switch (access) {
      case APPLICATION -> stream == null ? text.application(owner.role()) : text.application(ids);
      case PRODUCER -> text.producer(ids);
      default -> text.monitor(ids);
    };
  }

  private Owner owner(Connection connection) throws SQLException {
    try (Call call = AccessSql.DATABASE.in(system).on(connection);
        ResultSet row = call.query()) {
      row.next();
      return new Owner(
          row.getString("database"), row.getString("owner"), row.getBoolean("is_superuser"));
    }
  }

  private List<Stream> streams(Connection connection) throws SQLException {
    try (Call call = AccessSql.STREAMS.in(system).on(connection);
        ResultSet row = call.query()) {
      List<Stream> streams = new ArrayList<>();
      while (row.next()) {
        streams.add(new Stream(row.getLong("id"), row.getString("name")));
      }
      return streams;
    }
  }
}
