package io.sqlstreams.internal.fleet;

import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Takes workers, keeps them and gives them back, each in one round trip for all. Waits for no lock
 * of another process. Thread-safe.
 */
final class Roster {
  /** How many rows of the log one statement removes. */
  static final int SWEEP = 2_000;

  /** How many workers one statement takes. */
  static final int CLAIM = 1_000;

  /** Only DDL is in the way, and that may take long. */
  private static final long LOCK_TIMEOUT_MILLIS = 1_000;

  private final Database database;
  private final long leaseNanos;
  private final Statement look;
  private final Statement renew;
  private final Statement release;
  private final Statement sweep;

  /**
   * @param lease how long what is taken or renewed is held
   */
  Roster(Database database, Scope system, Duration lease) {
    this.database = database;
    this.leaseNanos = lease.toNanos();
    this.look = RosterSql.LOOK.asImpatientTransaction(LOCK_TIMEOUT_MILLIS, system);
    this.renew = RosterSql.RENEW.asImpatientTransaction(LOCK_TIMEOUT_MILLIS, system);
    this.release = RosterSql.RELEASE.asImpatientTransaction(LOCK_TIMEOUT_MILLIS, system);
    this.sweep = RosterSql.SWEEP_LOG.asTransactionByKeys(system);
  }

  /**
   * What a look found.
   *
   * @param claimed what was taken
   * @param ended the instances that are to be let go, of all processes
   */
  record Found(List<HeldPost> claimed, Set<Long> ended) {}

  /**
   * Takes what is free of these names, up to {@link #CLAIM}.
   *
   * @param shared the instances that this process holds of workers that several processes do at
   *     once: it takes no second one
   */
  Found look(Collection<String> names, Collection<Long> shared) {
    return database.autoCommitted(
        "claiming workers",
        connection -> {
          try (Call call = look.on(connection)) {
            call.setArray("names", "text", names.toArray())
                .setArray("shared", "bigint", shared.toArray())
                .set("most", CLAIM)
                .set("lease_us", leaseNanos / 1_000);
            long sentAt = System.nanoTime();
            return found(call.query(), sentAt);
          }
        });
  }

  private Found found(ResultSet row, long sentAt) throws SQLException {
    Found found = new Found(new ArrayList<>(), new HashSet<>());
    while (row.next()) {
      long instance = row.getLong("id");
      @Nullable String name = row.getString("name");
      if (name == null) {
        found.ended().add(instance);
      } else {
        found
            .claimed()
            .add(
                new HeldPost(
                    instance,
                    name,
                    row.getLong("worker"),
                    row.getLong("owner"),
                    row.getObject("token", UUID.class),
                    row.getInt("attempts"),
                    row.getBoolean("is_shared"),
                    sentAt,
                    leaseNanos));
      }
    }
    return found;
  }

  /**
   * Renews these; gives those that this process holds no more.
   *
   * @return the posts whose instance is gone
   */
  List<HeldPost> renew(Collection<HeldPost> posts) {
    Map<HeldPost, HeldPost.Entry> entries = new HashMap<>();
    posts.forEach(post -> entries.put(post, post.entry()));
    long sentAt = System.nanoTime();
    Map<UUID, Boolean> alive =
        database.autoCommitted(
            "renewing workers",
            connection -> {
              try (Call call = bind(renew.on(connection), entries.values())) {
                ResultSet row = call.set("lease_us", leaseNanos / 1_000).query();
                Map<UUID, Boolean> renewed = new HashMap<>();
                while (row.next()) {
                  renewed.put(row.getObject("token", UUID.class), row.getBoolean("is_renewed"));
                }
                return renewed;
              }
            });
    List<HeldPost> lost = new ArrayList<>();
    entries.forEach(
        (post, entry) -> {
          @Nullable Boolean renewed = alive.get(entry.token());
          if (renewed == null) {
            lost.add(post);
          } else if (renewed) {
            post.renewed(entry, sentAt, leaseNanos);
          }
        });
    return lost;
  }

  /** Gives these back. */
  void release(Collection<HeldPost> posts) {
    List<HeldPost.Entry> entries = posts.stream().map(HeldPost::entry).toList();
    database.autoCommitted(
        "releasing workers",
        connection -> {
          try (Call call = bind(release.on(connection), entries)) {
            return call.update();
          }
        });
  }

  /**
   * Removes up to {@link #SWEEP} rows of the log that are past their time.
   *
   * @return how many
   */
  long sweep(Duration retention) {
    return database.autoCommitted(
        "sweeping the log of workers",
        connection -> {
          try (Call call = sweep.on(connection)) {
            return call.set("retention_us", retention.toNanos() / 1_000)
                .set("most", SWEEP)
                .update();
          }
        });
  }

  private static Call bind(Call call, Collection<HeldPost.Entry> entries) throws SQLException {
    return call.setArray(
            "tokens", "uuid", entries.stream().map(HeldPost.Entry::token).toArray(UUID[]::new))
        .setArray("attempts", "int", entries.stream().mapToInt(HeldPost.Entry::failures).toArray())
        .setArray(
            "rests_us",
            "bigint",
            entries.stream().mapToLong(entry -> entry.restNanos() / 1_000).toArray());
  }
}
