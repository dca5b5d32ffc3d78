package io.sqlstreams.internal.access;

import io.sqlstreams.internal.sql.Scope;
import java.util.ArrayList;
import java.util.List;

/**
 * The text of the grants of one role. Rights on a partition are never needed: PostgreSQL asks for
 * those on the log alone.
 */
final class GrantText {
  private static final List<String> CONTROL_PLANE =
      List.of(
          "system_config",
          "stream_config",
          "stream_config_log",
          "stream_upkeep",
          "consumer_group_config",
          "worker_config",
          "worker_config_log",
          "worker_instance",
          "worker_instance_log",
          "schedule_config",
          "schedule_cursor",
          "migration_log");

  private static final List<String> FAMILY =
      List.of(
          "message_log",
          "idempotency_key",
          "compaction_head",
          "exception_queue",
          "delivery_log",
          "consumer_group_cursor",
          "claim_lease",
          "binding_config",
          "binding_config_log",
          "operation_log");

  /** All but the payload and what messages wish; groups may be bound by headers. */
  private static final String PLAIN_COLUMNS =
      "id, created_at, compaction_rank, schema_version, routing_key, message_key, headers";

  private final Scope system;
  private final String schema;
  private final String database;
  private final String role;
  private final List<String> lines = new ArrayList<>();

  GrantText(Scope system, String database, RoleName role) {
    this.system = system;
    this.schema = RoleName.quote(system.schema());
    this.database = RoleName.quote(database);
    this.role = role.quoted();
  }

  List<String> installer() {
    connect();
    lines.add("CREATE SCHEMA IF NOT EXISTS " + schema + " AUTHORIZATION " + role + ";");
    // in case somebody else's was there
    grant("USAGE, CREATE", "SCHEMA " + schema);
    return lines;
  }

  /** Every table, also those that this owner creates later. */
  List<String> application(String owner) {
    enter();
    grant("SELECT, INSERT, UPDATE, DELETE", "ALL TABLES IN SCHEMA " + schema);
    grant("SELECT, USAGE", "ALL SEQUENCES IN SCHEMA " + schema);
    lines.add("REVOKE INSERT, UPDATE, DELETE ON " + table("migration_log") + " FROM " + role + ";");
    byDefault(owner, "SELECT, INSERT, UPDATE, DELETE", "TABLES");
    byDefault(owner, "SELECT, USAGE", "SEQUENCES");
    return lines;
  }

  /** The control plane and these streams. */
  List<String> application(List<Long> streams) {
    enter();
    for (String table : CONTROL_PLANE) {
      boolean isWritten = !table.equals("migration_log");
      grant(isWritten ? "SELECT, INSERT, UPDATE, DELETE" : "SELECT", table(table));
    }
    for (long id : streams) {
      for (String table : FAMILY) {
        grant("SELECT, INSERT, UPDATE, DELETE", table(table + "_" + id));
      }
      grant("SELECT, USAGE", sequence(id));
    }
    return lines;
  }

  List<String> producer(List<Long> streams) {
    enter();
    grant("SELECT", table("stream_config"));
    grant("SELECT", table("migration_log"));
    for (long id : streams) {
      grant("SELECT, INSERT", table("message_log_" + id));
      grant("SELECT, USAGE", sequence(id));
      grant("SELECT, INSERT, UPDATE", table("idempotency_key_" + id));
      grant("SELECT, INSERT, UPDATE", table("compaction_head_" + id));
    }
    return lines;
  }

  List<String> monitor(List<Long> streams) {
    enter();
    for (String table : CONTROL_PLANE) {
      if (table.equals("schedule_config")) {
        continue; // it holds payloads
      }
      grant("SELECT", table(table));
    }
    for (long id : streams) {
      for (String table : FAMILY) {
        boolean isLog = table.equals("message_log");
        grant(isLog ? "SELECT (" + PLAIN_COLUMNS + ")" : "SELECT", table(table + "_" + id));
      }
      grant("SELECT", sequence(id));
    }
    // else the sessions of other roles that hold a group up have no name
    lines.add("GRANT pg_read_all_stats TO " + role + ";");
    return lines;
  }

  /** What it creates belongs to the owner, like everything else. */
  List<String> maintenance(String owner) {
    connect();
    String of = RoleName.quote(owner);
    lines.add("GRANT " + of + " TO " + role + ";");
    lines.add("ALTER ROLE " + role + " IN DATABASE " + database + " SET role = " + of + ";");
    return lines;
  }

  private void enter() {
    connect();
    grant("USAGE", "SCHEMA " + schema);
  }

  private void connect() {
    grant("CONNECT", "DATABASE " + database);
  }

  private void grant(String privileges, String object) {
    lines.add("GRANT " + privileges + " ON " + object + " TO " + role + ";");
  }

  private void byDefault(String owner, String privileges, String kind) {
    lines.add(
        "ALTER DEFAULT PRIVILEGES FOR ROLE "
            + RoleName.quote(owner)
            + " IN SCHEMA "
            + schema
            + " GRANT "
            + privileges
            + " ON "
            + kind
            + " TO "
            + role
            + ";");
  }

  private String table(String name) {
    return "TABLE " + schema + "." + name;
  }

  private String sequence(long stream) {
    return "SEQUENCE " + system.stream(stream).messageLog() + "_id_seq";
  }
}
