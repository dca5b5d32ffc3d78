package io.sqlstreams.internal.sql;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/** The moments of a row: the driver gives a TIMESTAMPTZ as a time with an offset. */
public final class Instants {
  private Instants() {}

  /** The moment in a column that isn't null. */
  public static Instant of(ResultSet row, String column) throws SQLException {
    return row.getObject(column, OffsetDateTime.class).toInstant();
  }

  /** The moment in this column; null when it is null. */
  public static @Nullable Instant orNull(ResultSet row, String column) throws SQLException {
    @Nullable OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
    return time == null ? null : time.toInstant();
  }
}
