package io.sqlstreams.internal.lease;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.LeaseInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Instants;
import io.sqlstreams.internal.sql.Scope;
import java.sql.ResultSet;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Leases as an operator sees them. Thread-safe. */
public final class LeaseOffice {
  private final Database database;
  private final Scope system;

  public LeaseOffice(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /** What is held of the group's log, in its order. */
  public List<LeaseInfo> list(StreamInfo stream, GroupInfo group) {
    return database.autoCommitted(
        "listing leases",
        connection -> {
          try (Call call = LeaseSql.LIST.asLook(system.stream(stream.id())).on(connection)) {
            ResultSet row = call.set("group", group.id()).query();
            List<LeaseInfo> leases = new ArrayList<>();
            while (row.next()) {
              leases.add(
                  new LeaseInfo(
                      row.getObject("session", UUID.class),
                      row.getLong("low"),
                      row.getLong("high"),
                      Instants.of(row, "expires_at"),
                      row.getInt("reclaims")));
            }
            return leases;
          }
        });
  }

  /** Ends what this session holds; gives the number of ranges. */
  public int release(StreamInfo stream, GroupInfo group, UUID session) {
    return database.autoCommitted(
        "releasing leases",
        connection -> {
          try (Call call =
              LeaseSql.RELEASE.asTransaction(system.stream(stream.id())).on(connection)) {
            return (int) call.set("group", group.id()).set("session", session).update();
          }
        });
  }
}
