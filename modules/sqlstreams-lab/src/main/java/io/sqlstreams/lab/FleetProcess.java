package io.sqlstreams.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.fleet.FleetManager;
import io.sqlstreams.internal.fleet.FleetTiming;
import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.fleet.PostFence;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * A process of the fleet until its standard input ends. What its workers do is to write down when
 * they began and ended, by the database's clock, into the table {@code turns}.
 */
public final class FleetProcess implements Duty {
  private static final Duration WORK = Duration.ofMillis(20);

  private final String name;
  private final String schema;
  private final Database database;
  private final PostFence fence;

  private FleetProcess(String name, String schema, Database database, PostFence fence) {
    this.name = name;
    this.schema = schema;
    this.database = database;
    this.fence = fence;
  }

  /**
   * Arguments: the database's JDBC URL, the schema, the workers' name, the lease in milliseconds.
   */
  public static void main(String[] args) throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(args[0]);
    pool.setMaximumPoolSize(3);
    FleetTiming timing = FleetTiming.ofLease(Duration.ofMillis(Long.parseLong(args[3])));
    try (HikariDataSource dataSource = new HikariDataSource(pool)) {
      Database database = new Database(dataSource, args[1]);
      Scope system = Scope.system(args[1]);
      FleetProcess duty =
          new FleetProcess(args[2], args[1], database, new PostFence(system, timing.lease()));
      FleetManager manager = new FleetManager(database, system, List.of(duty), timing);
      manager.start();
      System.out.println("ready");
      while (System.in.read() >= 0) {
        // whoever started this process holds its input open
      }
      manager.stop();
      System.out.println("stopped");
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Duration interval() {
    return WORK;
  }

  @Override
  public Map<Long, RuntimeException> perform(Collection<Post> posts) {
    for (Post post : posts) {
      if (post.isHeld() && !Thread.currentThread().isInterrupted()) {
        database.inTransaction("a turn", connection -> write(connection, post));
      }
    }
    return Map.of();
  }

  /** The two moments are of one transaction, and between them a process can be killed or frozen. */
  private boolean write(Connection connection, Post post) throws SQLException {
    if (!fence.hold(connection, List.of(post)).contains(post.worker())) {
      return false;
    }
    try (PreparedStatement insert =
            connection.prepareStatement(
                "INSERT INTO "
                    + schema
                    + ".turns (worker, token, process, begun_at)"
                    + " VALUES (?, ?, ?, clock_timestamp())");
        PreparedStatement end =
            connection.prepareStatement(
                "UPDATE "
                    + schema
                    + ".turns SET ended_at = clock_timestamp() WHERE ended_at IS NULL AND token = ?")) {
      insert.setLong(1, post.worker());
      insert.setObject(2, post.token());
      insert.setLong(3, ProcessHandle.current().pid());
      insert.executeUpdate();
      Thread.sleep(WORK.toMillis());
      end.setObject(1, post.token());
      end.executeUpdate();
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }
}
