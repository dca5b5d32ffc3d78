package io.sqlstreams.internal.sql;

import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * One call of a {@link Statement}: bind each parameter by its name, then {@link #query} or {@link
 * #update}.
 */
public final class Call implements AutoCloseable {
  /** The years that can be written on both sides; no row is of any other. */
  private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");

  private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999999Z");

  private final PreparedStatement prepared;
  private final List<String> parameters;

  Call(PreparedStatement prepared, List<String> parameters) {
    this.prepared = prepared;
    this.parameters = parameters;
  }

  @FunctionalInterface
  private interface Binder {
    void bind(int index) throws SQLException;
  }

  public Call set(String name, long value) throws SQLException {
    return bind(name, index -> prepared.setLong(index, value));
  }

  public Call set(String name, int value) throws SQLException {
    return bind(name, index -> prepared.setInt(index, value));
  }

  public Call set(String name, boolean value) throws SQLException {
    return bind(name, index -> prepared.setBoolean(index, value));
  }

  public Call set(String name, @Nullable String value) throws SQLException {
    return bind(name, index -> prepared.setString(index, value));
  }

  public Call set(String name, UUID value) throws SQLException {
    return bind(name, index -> prepared.setObject(index, value));
  }

  public Call set(String name, byte @Nullable [] value) throws SQLException {
    return bind(name, index -> prepared.setBytes(index, value));
  }

  /** Binds an instant, which PostgreSQL keeps in microseconds: the first that isn't before it. */
  public Call set(String name, @Nullable Instant value) throws SQLException {
    if (value == null) {
      return bind(name, index -> prepared.setNull(index, Types.TIMESTAMP_WITH_TIMEZONE));
    }
    Instant stored =
        value.isBefore(EARLIEST)
            ? EARLIEST
            : value.isAfter(LATEST) ? LATEST : value.plusNanos(999).truncatedTo(ChronoUnit.MICROS);
    return bind(name, index -> prepared.setObject(index, stored.atOffset(ZoneOffset.UTC)));
  }

  /**
   * Binds an array.
   *
   * @param type PostgreSQL's name of the element type
   * @param values a {@code long[]}, {@code int[]}, {@code byte[][]} or an array of objects
   */
  public Call setArray(String name, String type, Object values) throws SQLException {
    Array array = unwrapped().createArrayOf(type, values);
    return bind(name, index -> prepared.setArray(index, array));
  }

  /**
   * Has the statement cancelled when it takes longer; the driver does that, no setting of the
   * session.
   */
  public Call within(Duration time) throws SQLException {
    prepared.setQueryTimeout((int) Math.max(1, time.toSeconds()));
    return this;
  }

  private org.postgresql.PGConnection unwrapped() throws SQLException {
    return prepared.getConnection().unwrap(org.postgresql.PGConnection.class);
  }

  private Call bind(String name, Binder binder) throws SQLException {
    boolean bound = false;
    for (int i = 0; i < parameters.size(); i++) {
      if (parameters.get(i).equals(name)) {
        binder.bind(i + 1);
        bound = true;
      }
    }
    if (!bound) {
      throw new IllegalArgumentException("the statement has no parameter :" + name);
    }
    return this;
  }

  /**
   * Executes and gives the rows of the last command that gives any; they are closed with this call.
   */
  public ResultSet query() throws SQLException {
    @Nullable ResultSet rows = null;
    boolean isRows = prepared.execute();
    while (isRows || prepared.getUpdateCount() >= 0) {
      if (isRows) {
        rows = prepared.getResultSet();
      }
      isRows = prepared.getMoreResults(java.sql.Statement.KEEP_CURRENT_RESULT);
    }
    if (rows == null) {
      throw new IllegalStateException("the statement gives no rows");
    }
    return rows;
  }

  /** Executes and gives the sum of the row counts. */
  public long update() throws SQLException {
    boolean isRows = prepared.execute();
    long rows = 0;
    while (isRows || prepared.getUpdateCount() >= 0) {
      rows += isRows ? 0 : prepared.getUpdateCount();
      isRows = prepared.getMoreResults();
    }
    return rows;
  }

  @Override
  public void close() throws SQLException {
    prepared.close();
  }
}
