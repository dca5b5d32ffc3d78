package io.sqlstreams.internal.upkeep;

import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.fleet.OneByOne;
import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.sql.Statement;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes what destroyed groups have left in tables that don't refer to them. It goes round all
 * streams within about an hour, some at a time. Belongs to one thread.
 */
public final class GroupJanitor implements Duty {
  private static final Logger log = LoggerFactory.getLogger(GroupJanitor.class);
  private static final Duration INTERVAL = Duration.ofMinutes(1);
  private static final int TURNS_A_ROUND = 60;
  private static final int BATCH = 1_000;

  private static final List<String> TABLES =
      List.of("claim_lease", "exception_queue", "delivery_log", "operation_log");

  private final Database database;
  private final Scope system;
  private final StreamIds streams;
  private final int turnsARound;
  private long last;

  /**
   * @param system the installation
   */
  public GroupJanitor(Database database, Scope system) {
    this(database, system, TURNS_A_ROUND);
  }

  /**
   * @param turnsARound in how many turns it comes to every stream
   */
  GroupJanitor(Database database, Scope system, int turnsARound) {
    this.database = database;
    this.system = system;
    this.streams = new StreamIds(database, system);
    this.turnsARound = turnsARound;
  }

  @Override
  public String name() {
    return "consumer_group_janitor";
  }

  @Override
  public Duration interval() {
    return INTERVAL;
  }

  @Override
  public Map<Long, RuntimeException> perform(Collection<Post> posts) {
    return OneByOne.perform(posts, this::turn);
  }

  private void turn(Post post) {
    List<Long> all = streams.all();
    int share = (all.size() + turnsARound - 1) / turnsARound;
    List<Long> next = all.stream().filter(id -> id > last).limit(share).toList();
    for (long stream : next) {
      if (post.isHeld()) {
        sweep(stream);
      }
    }
    last = next.size() < share || next.isEmpty() ? 0 : next.get(next.size() - 1);
  }

  private void sweep(long stream) {
    Scope scope = system.stream(stream);
    try {
      for (String table : TABLES) {
        Statement sweep =
            AdvanceSql.ORPHANS
                .withPart("table", "{schema}." + table + "_{stream}")
                .asTransactionByKeys(scope);
        while (sweep(stream, sweep) == BATCH && !Thread.currentThread().isInterrupted()) {
          log.debug("a batch of what gone groups have left in {} is swept", table);
        }
      }
    } catch (NotInstalledException e) {
      log.debug("stream {} is gone", stream, e);
    }
  }

  private long sweep(long stream, Statement sweep) {
    return database.autoCommitted(
        "sweep what gone groups of stream " + stream + " have left",
        connection -> {
          try (Call call = sweep.on(connection)) {
            return call.set("most", BATCH).update();
          }
        });
  }
}
