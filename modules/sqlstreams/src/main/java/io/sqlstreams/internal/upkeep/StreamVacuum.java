package io.sqlstreams.internal.upkeep;

import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.fleet.OneByOne;
import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Vacuums the tables of streams whose rows come and go. The server's own autovacuum does that too,
 * so this worker is suspended unless somebody wants it: where autovacuum is off, or comes too
 * seldom.
 */
public final class StreamVacuum implements Duty {
  private static final Logger log = LoggerFactory.getLogger(StreamVacuum.class);
  private static final Duration INTERVAL = Duration.ofMinutes(10);

  private final Database database;
  private final Scope system;

  /**
   * @param system the installation
   */
  public StreamVacuum(Database database, Scope system) {
    this.database = database;
    this.system = system;
  }

  @Override
  public String name() {
    return "stream_vacuum";
  }

  @Override
  public Duration interval() {
    return INTERVAL;
  }

  @Override
  public Map<Long, RuntimeException> perform(Collection<Post> posts) {
    return OneByOne.perform(posts, post -> vacuum(post.owner()));
  }

  private void vacuum(long stream) {
    try {
      database.autoCommitted(
          "vacuum stream " + stream,
          connection -> {
            AdvanceSql.VACUUM.in(system.stream(stream)).run(connection);
            return true;
          });
    } catch (NotInstalledException e) {
      log.debug("stream {} is gone", stream, e);
    }
  }
}
