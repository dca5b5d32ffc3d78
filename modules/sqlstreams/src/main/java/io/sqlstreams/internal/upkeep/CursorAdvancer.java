package io.sqlstreams.internal.upkeep;

import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.fleet.OneByOne;
import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves {@code committed} of groups that claim nothing: whoever claims moves its own. Without that
 * a group whose last results came in late would hold retention back until it claims again. Belongs
 * to one thread.
 */
public final class CursorAdvancer implements Duty {
  private static final Logger log = LoggerFactory.getLogger(CursorAdvancer.class);
  private static final Duration INTERVAL = Duration.ofSeconds(30);

  /** How many streams one look takes together. */
  private static final int CHUNK = 100;

  private final Database database;
  private final Scope system;
  private final StreamIds streams;

  /**
   * @param system the installation
   */
  public CursorAdvancer(Database database, Scope system) {
    this.database = database;
    this.system = system;
    this.streams = new StreamIds(database, system);
  }

  @Override
  public String name() {
    return "cursor_advancer";
  }

  @Override
  public Duration interval() {
    return INTERVAL;
  }

  @Override
  public Map<Long, RuntimeException> perform(Collection<Post> posts) {
    return OneByOne.perform(posts, this::advance);
  }

  private void advance(Post post) {
    List<Long> all = streams.all();
    for (int from = 0; from < all.size() && post.isHeld(); from += CHUNK) {
      for (long stream : lagging(all.subList(from, Math.min(all.size(), from + CHUNK)))) {
        if (post.isHeld()) {
          advance(stream);
        }
      }
    }
  }

  private List<Long> lagging(List<Long> chunk) {
    String look =
        chunk.stream()
            .map(id -> AdvanceSql.LAGGING.in(system.stream(id)).sql())
            .collect(Collectors.joining("UNION ALL\n"));
    try {
      return database.autoCommitted("look at where the groups stand", c -> StreamIds.read(c, look));
    } catch (NotInstalledException e) {
      // one of them was destroyed meanwhile
      log.debug("some groups are looked at the next time", e);
      return List.of();
    }
  }

  private void advance(long stream) {
    try {
      database.autoCommitted(
          "advance the groups of stream " + stream,
          connection -> {
            try (Call call =
                AdvanceSql.ADVANCE.asRelaxedTransaction(system.stream(stream)).on(connection)) {
              return call.update();
            }
          });
    } catch (NotInstalledException e) {
      log.debug("stream {} is gone", stream, e);
    }
  }
}
