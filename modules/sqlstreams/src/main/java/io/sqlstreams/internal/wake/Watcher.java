package io.sqlstreams.internal.wake;

import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.internal.lifecycle.Loop;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Sees for all consumptions of a process together whether there may be news, so that idle groups
 * cost no statement of their own: whatever no notification tells of, or is told while nobody
 * listens. Wakes rather too often than too seldom.
 *
 * <p>A message can be missed in one way only: its id is drawn, the group looks, and the message
 * becomes visible afterwards. So a stream of which ids were drawn counts as unsettled until a look
 * at the locks on its log, <em>after</em> the look at its sequence, finds no writer: each holds one
 * from before it draws an id until its messages are visible. Until then its groups are woken
 * whenever another id is drawn or the writers are others than before.
 *
 * <p>Thread-safe; one thread looks.
 */
public final class Watcher {
  /** How often it looks while notifications are heard. */
  static final Duration LISTENING_INTERVAL = Duration.ofSeconds(1);

  /**
   * So the looks at many streams take a quarter of the time at most where a database is slow, as
   * long as that makes no pause longer than {@link #LONGEST_SHARED}.
   */
  private static final int SHARE = 3;

  private static final long LONGEST_SHARED = TimeUnit.SECONDS.toNanos(2);

  private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(60);

  private final Database database;
  private final Looks looks;
  private final BooleanSupplier listens;
  private final Map<Watched, String> versions = new ConcurrentHashMap<>();
  private final Map<Long, StreamState> streams = new HashMap<>();
  private final Signal hurry = new Signal();
  private final Loop loop;
  private volatile long pauseNanos = IDLE_NANOS;
  private boolean missed;
  private long tookNanos;

  /** What is known of a stream. */
  private static final class StreamState {
    private long newest = -1;
    private boolean settled;
    private @Nullable String writers;
  }

  /**
   * @param system the installation
   * @param listens whether notifications are heard at the moment
   */
  public Watcher(Database database, Scope system, BooleanSupplier listens) {
    this.database = database;
    this.looks = new Looks(system);
    this.listens = listens;
    this.loop = new Loop("sqlstreams-watcher", this::turn);
  }

  /** Watches this one from now on. To be called before it looks for itself for the first time. */
  public void join(Watched watched) {
    versions.put(watched, "");
    loop.start();
    if (intervalNanos(watched) < pauseNanos) {
      hurry.set();
    }
  }

  /** Watches it no more. */
  public void leave(Watched watched) {
    versions.remove(watched);
  }

  /** Looks now: notifications are heard again, or no more. */
  public void hurry() {
    hurry.set();
  }

  /** Ends. Idempotent. */
  public void stop() {
    loop.requestStop();
    hurry.set();
    loop.stop();
  }

  private void turn() throws InterruptedException {
    pauseNanos = Math.max(nextNanos(), Math.min(LONGEST_SHARED, SHARE * tookNanos));
    hurry.await(pauseNanos);
    List<Watched> watched = List.copyOf(versions.keySet());
    if (loop.isStopping() || watched.isEmpty()) {
      return;
    }
    long begin = System.nanoTime();
    try {
      look(watched);
    } catch (SqlStreamsException e) {
      missed = true;
      throw e;
    }
    tookNanos = System.nanoTime() - begin;
    if (missed) {
      missed = false;
      watched.forEach(Watched::wake);
    }
  }

  private long nextNanos() {
    return versions.keySet().stream().mapToLong(this::intervalNanos).min().orElse(IDLE_NANOS);
  }

  private long intervalNanos(Watched watched) {
    Duration news = listens.getAsBoolean() ? LISTENING_INTERVAL : watched.pollInterval();
    return Math.min(news.toNanos(), watched.settingsInterval().toNanos());
  }

  private void look(List<Watched> watched) {
    Map<Long, List<Watched>> byStream =
        watched.stream().collect(Collectors.groupingBy(Watched::stream));
    streams.keySet().retainAll(byStream.keySet());
    byStream.keySet().forEach(this::state);
    database.autoCommitted(
        "looking for news",
        connection -> {
          for (long stream : lookAtStreams(connection)) {
            byStream.getOrDefault(stream, List.of()).forEach(Watched::wake);
          }
          lookAtGroups(connection, watched);
          return watched.size();
        });
  }

  private StreamState state(long stream) {
    return streams.computeIfAbsent(stream, id -> new StreamState());
  }

  /** The streams of which there may be news. */
  private Set<Long> lookAtStreams(Connection connection) throws SQLException {
    Map<Long, Long> known = new HashMap<>();
    streams.forEach((stream, state) -> known.put(stream, state.newest));
    Looks.Sequences found = looks.sequences(connection, known);
    found
        .moved()
        .forEach(
            (stream, newest) -> {
              StreamState state = state(stream);
              state.newest = newest;
              state.settled = false;
            });
    Set<Long> news = new HashSet<>(found.moved().keySet());
    news.addAll(found.unseen());
    news.addAll(lookAtWriters(connection));
    return news;
  }

  /** After the look at the sequences. */
  private Set<Long> lookAtWriters(Connection connection) throws SQLException {
    Set<Long> unsettled =
        streams.entrySet().stream()
            .filter(entry -> !entry.getValue().settled)
            .map(Map.Entry::getKey)
            .collect(Collectors.toSet());
    if (unsettled.isEmpty()) {
      return Set.of();
    }
    Set<Long> news = new HashSet<>();
    looks
        .writers(connection, unsettled)
        .forEach(
            (stream, writers) -> {
              StreamState state = state(stream);
              if (!writers.equals(state.writers)) {
                news.add(stream);
              }
              state.writers = writers;
              state.settled = writers.isEmpty();
            });
    return news;
  }

  private void lookAtGroups(Connection connection, List<Watched> watched) throws SQLException {
    Map<Long, List<Watched>> byGroup =
        watched.stream().collect(Collectors.groupingBy(Watched::group));
    Map<Long, String> known = new HashMap<>();
    // of several with the same group the one that knows least
    watched.forEach(
        one ->
            known.merge(
                one.group(), versions.getOrDefault(one, ""), (a, b) -> a.equals(b) ? a : ""));
    for (Looks.ChangedGroup changed : looks.groups(connection, known)) {
      for (Watched one : byGroup.getOrDefault(changed.group(), List.of())) {
        if (!changed.version().equals(versions.replace(one, changed.version()))) {
          one.changed(changed.settings());
          one.wake();
        }
      }
    }
  }
}
