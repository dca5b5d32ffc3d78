package io.sqlstreams.internal.catalog;

import io.sqlstreams.config.Binding;
import io.sqlstreams.internal.document.BindingDocument;
import io.sqlstreams.internal.filter.Regex;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;

/** Brings what a group reads to a declaration, in the transaction of the caller. Stateless. */
final class BindingWriter {
  private BindingWriter() {}

  /**
   * Puts a set into force for every message above where the group stands, in place of the one so
   * far, and notes it.
   *
   * @param family the stream
   * @param schemaVersions ascending; empty: every version
   */
  static void change(
      Connection connection,
      Scope family,
      long groupId,
      Set<Binding> bindings,
      List<Integer> schemaVersions)
      throws SQLException {
    try (Call call = BindingSql.CHANGE.in(family).on(connection)) {
      call.set("group_id", groupId);
      if (schemaVersions.isEmpty()) {
        call.set("schema_versions", (String) null);
      } else {
        call.setArray("schema_versions", "int", schemaVersions.toArray());
      }
      call.update();
    }
    try (Call call = BindingSql.DELETE.in(family).on(connection)) {
      call.set("group_id", groupId).update();
    }
    if (!bindings.isEmpty()) {
      insert(connection, family, groupId, List.copyOf(bindings));
    }
    log(connection, family, groupId, false);
  }

  /** Notes that the set in force was declared again, unless that is noted already. */
  static void repeat(Connection connection, Scope family, long groupId) throws SQLException {
    log(connection, family, groupId, true);
  }

  /** Whether it is noted that the set in force was declared again. */
  static boolean isRepeated(Connection connection, Scope family, long groupId) throws SQLException {
    try (Call call = BindingSql.IS_REPEATED.in(family).on(connection)) {
      ResultSet row = call.set("group_id", groupId).query();
      row.next();
      return row.getBoolean("is_repeated");
    }
  }

  private static void insert(
      Connection connection, Scope family, long groupId, List<Binding> bindings)
      throws SQLException {
    String[] patterns = new String[bindings.size()];
    String[] regexes = new String[bindings.size()];
    String[] headers = new String[bindings.size()];
    for (int i = 0; i < bindings.size(); i++) {
      if (bindings.get(i) instanceof Binding.RoutingKey routingKey) {
        patterns[i] = routingKey.pattern();
        regexes[i] = Regex.of(routingKey.pattern());
      } else if (bindings.get(i) instanceof Binding.Headers binding) {
        headers[i] = BindingDocument.write(binding);
      }
    }
    try (Call call = BindingSql.INSERT.in(family).on(connection)) {
      call.set("group_id", groupId)
          .setArray("patterns", "text", patterns)
          .setArray("regexes", "text", regexes)
          .setArray("headers", "text", headers)
          .update();
    }
  }

  private static void log(Connection connection, Scope family, long groupId, boolean isRepeated)
      throws SQLException {
    try (Call call = BindingSql.LOG.in(family).on(connection)) {
      call.set("group_id", groupId).set("is_repeated", isRepeated).update();
    }
  }
}
