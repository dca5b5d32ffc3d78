package io.sqlstreams.internal.upkeep;

import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.lab.TestStream;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import javax.sql.DataSource;

/** A process's janitor that does everything whenever it is told to. */
final class Keeper {
  private final StreamJanitor janitor;
  private final List<Post> posts;

  private Keeper(StreamJanitor janitor, List<Post> posts) {
    this.janitor = janitor;
    this.posts = posts;
  }

  static Keeper of(TestStream... streams) {
    return of(streams[0].dataSource(), streams);
  }

  static Keeper of(DataSource source, TestStream... streams) {
    Scope system = Scope.system(streams[0].scope().schema());
    Database database = new Database(source, system.schema());
    return new Keeper(
        new StreamJanitor(
            database, system, new Partitions(database, system), new Heads(database, system), true),
        Stream.of(streams).map(stream -> post(stream.info().id())).toList());
  }

  /** One turn, of which nothing may go wrong. */
  Keeper turn() {
    Map<Long, RuntimeException> errors = tries();
    for (RuntimeException error : errors.values()) {
      throw error;
    }
    return this;
  }

  /** One turn; what went wrong, by the stream's id. */
  Map<Long, RuntimeException> tries() {
    return janitor.perform(posts);
  }

  /** A worker of this owner whose lease lasts. */
  static Post post(long owner) {
    return new HeldPost(owner, owner, UUID.randomUUID());
  }

  static Collection<Post> posts(long... owners) {
    List<Post> posts = new ArrayList<>();
    for (long owner : owners) {
      posts.add(post(owner));
    }
    return posts;
  }

  private record HeldPost(long worker, long owner, UUID token) implements Post {
    @Override
    public boolean isHeld() {
      return true;
    }
  }
}
