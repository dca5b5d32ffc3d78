package io.sqlstreams.internal.head;

import io.sqlstreams.HeadSweep;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.internal.log.StoredMessage;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.SqlErrors;
import io.sqlstreams.internal.sql.SqlWork;
import io.sqlstreams.internal.sql.Statement;
import io.sqlstreams.internal.sql.Template;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads, locks and sweeps the heads of an installation's streams. Thread-safe. */
public final class Heads {
  private static final int SWEPT_AT_ONCE = 1_000;
  private static final int FORGOTTEN_AT_ONCE = 5_000;

  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public Heads(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  /** The head of this key; empty when it has none. */
  public Optional<Head> read(StreamInfo stream, String key) {
    Statement read = HeadSql.READ.asTransactionByKeys(scope(stream));
    return database.autoCommitted(
        what("reading", stream), connection -> head(read, connection, key));
  }

  /** The last messages of this key, newest first. */
  public List<StoredMessage> messages(StreamInfo stream, String key, int most) {
    Statement list = HeadSql.MESSAGES.asTransactionByKeys(scope(stream));
    return database.autoCommitted(
        what("reading", stream),
        connection -> {
          try (Call call = list.on(connection)) {
            ResultSet row = call.set("key", key).set("most", most).query();
            List<StoredMessage> messages = new ArrayList<>();
            while (row.next()) {
              messages.add(StoredMessage.read(row));
            }
            return messages;
          }
        });
  }

  /** Locks the head of this key until the end of this connection's transaction. */
  public Optional<Head> lock(StreamInfo stream, Connection connection, String key) {
    try {
      return database.borrowing(
          connection, borrowed -> head(HeadSql.LOCK.in(scope(stream)), borrowed, key));
    } catch (SQLException e) {
      throw SqlErrors.translate(what("locking", stream), system.schema(), e);
    }
  }

  /**
   * Works in a transaction of its own at READ COMMITTED and commits it.
   *
   * @throws OutcomeUnknownException when the connection breaks during the commit
   */
  public <R> R inTransaction(StreamInfo stream, SqlWork<R> work) {
    return database.inTransaction(what("updating", stream), work);
  }

  /** Removes heads whose time is over. */
  public HeadSweep sweep(StreamInfo stream) {
    return new HeadSweep(
        sweep(stream, HeadSql.SWEEP_TOMBSTONES, stream.config().tombstoneTtl()),
        sweep(stream, HeadSql.SWEEP_EMPTY, stream.config().emptyHeadTtl()));
  }

  /**
   * Removes every head whose message has this id or a lower one. Waits for nobody.
   *
   * @return how many; negative when not all: somebody has locked one, or has just moved it
   */
  public long forget(StreamInfo stream, long floor) {
    Statement forget = HeadSql.FORGET.asTransactionByKeys(scope(stream));
    String from = "";
    long found = 0;
    long forgotten = 0;
    while (true) {
      Page page = forget(stream, forget, floor, from);
      found += page.found();
      forgotten += page.forgotten();
      if (page.lastKey() == null || page.seen() < FORGOTTEN_AT_ONCE) {
        return found == forgotten ? forgotten : -1;
      }
      from = page.lastKey();
    }
  }

  private Page forget(StreamInfo stream, Statement forget, long floor, String from) {
    return database.autoCommitted(
        what("sweeping", stream),
        connection -> {
          try (Call call = forget.on(connection)) {
            ResultSet row =
                call.set("from_key", from)
                    .set("floor", floor)
                    .set("most", FORGOTTEN_AT_ONCE)
                    .query();
            row.next();
            return new Page(
                row.getLong("seen"),
                row.getString("last_key"),
                row.getLong("found"),
                row.getLong("forgotten"));
          }
        });
  }

  private record Page(long seen, @Nullable String lastKey, long found, long forgotten) {}

  private long sweep(StreamInfo stream, Template template, Duration ttl) {
    Statement sweep = template.asTransactionByKeys(scope(stream));
    long all = 0;
    long some;
    do {
      some =
          database.autoCommitted(
              what("sweeping", stream),
              connection -> {
                try (Call call = sweep.on(connection)) {
                  return call.set("ttl_ns", ttl.toNanos()).set("most", SWEPT_AT_ONCE).update();
                }
              });
      all += some;
    } while (some == SWEPT_AT_ONCE);
    return all;
  }

  private static Optional<Head> head(Statement statement, Connection connection, String key)
      throws SQLException {
    try (Call call = statement.on(connection)) {
      ResultSet row = call.set("key", key).query();
      return row.next() ? Optional.of(Head.read(row)) : Optional.empty();
    }
  }

  private Scope scope(StreamInfo stream) {
    return system.stream(stream.id());
  }

  private static String what(String doing, StreamInfo stream) {
    return doing + " a key of stream \"" + stream.name() + "\"";
  }
}
