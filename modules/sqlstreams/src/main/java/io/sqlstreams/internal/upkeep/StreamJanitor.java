package io.sqlstreams.internal.upkeep;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.UpkeepRun;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.fleet.Duty;
import io.sqlstreams.internal.fleet.Post;
import io.sqlstreams.internal.head.Heads;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.partition.Slice;
import io.sqlstreams.internal.partition.Slices;
import io.sqlstreams.internal.sql.Call;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps streams up: makes partitions ahead of need, drops those whose time is over, sweeps. A
 * stream at which nothing can be due is asked about seldom, and together with others; one whose
 * turn goes wrong comes again after a while, and the others go on. {@link #perform} belongs to one
 * thread; {@link #run} doesn't.
 */
public final class StreamJanitor implements Duty {
  /** How many streams one statement asks about. */
  static final int CHUNK = 500;

  /** Turns that went wrong one after the other before it is warned of, and between two warnings. */
  private static final int ALERT = 3;

  private static final int ALERT_AGAIN = 20;
  private static final Logger log = LoggerFactory.getLogger(StreamJanitor.class);
  private static final Duration INTERVAL = Duration.ofSeconds(1);
  private static final Duration NOTE_EVERY = Duration.ofMinutes(2);
  private static final Duration LOOK_BEHIND_EVERY = Duration.ofMinutes(1);

  private final Database database;
  private final Scope system;
  private final Slices slices;
  private final Surveyor surveyor;
  private final Caretaker caretaker;
  private final boolean isEager;
  private final Map<Long, Memory> memories = new HashMap<>();
  private final Due note = new Due();
  private final Due lookBehind = new Due();

  /**
   * @param system the installation
   */
  public StreamJanitor(Database database, Scope system, Partitions partitions, Heads heads) {
    this(database, system, partitions, heads, false);
  }

  /**
   * @param isEager whether each turn does everything, whatever it remembers
   */
  StreamJanitor(
      Database database, Scope system, Partitions partitions, Heads heads, boolean isEager) {
    this.database = database;
    this.system = system;
    this.slices = new Slices(database, system);
    this.surveyor = new Surveyor(database, system, slices);
    this.caretaker = new Caretaker(database, system, partitions, slices, heads);
    this.isEager = isEager;
  }

  @Override
  public String name() {
    return "stream_janitor";
  }

  @Override
  public Duration interval() {
    return INTERVAL;
  }

  @Override
  public Map<Long, RuntimeException> perform(Collection<Post> posts) {
    Map<Long, Post> byStream =
        posts.stream().collect(Collectors.toMap(Post::owner, post -> post, (one, other) -> one));
    memories.keySet().retainAll(byStream.keySet());
    List<Long> due = new ArrayList<>();
    for (long stream : byStream.keySet()) {
      if (memories.computeIfAbsent(stream, id -> new Memory(isEager)).isDue()) {
        due.add(stream);
      }
    }
    Map<Long, RuntimeException> errors = new HashMap<>();
    for (int from = 0; from < due.size(); from += CHUNK) {
      List<Long> chunk = due.subList(from, Math.min(due.size(), from + CHUNK));
      for (Survey survey : surveyor.survey(chunk)) {
        keepUp(survey, byStream, errors);
      }
    }
    dropLeftBehind(byStream, errors);
    note(byStream, errors);
    return errors;
  }

  private void keepUp(Survey survey, Map<Long, Post> posts, Map<Long, RuntimeException> errors) {
    Post post = posts.get(survey.stream().id());
    Memory memory = memories.get(survey.stream().id());
    if (post == null || memory == null || !post.isHeld()) {
      return;
    }
    try {
      caretaker.turn(survey, memory, new Tally(post::isHeld));
      if (memory.succeeded() > 0 || survey.failures() > 0) {
        log.info("the upkeep of stream \"{}\" goes well again", survey.stream().name());
        noteSuccess(List.of(survey.stream().id()));
      }
    } catch (RuntimeException e) {
      errors.put(post.worker(), e);
      failed(survey.stream(), memory.failed(), e);
    }
  }

  /** The warning is for whoever reads logs, the note for whoever asks. */
  private void failed(StreamInfo stream, int failures, RuntimeException e) {
    if (failures == ALERT || failures % ALERT_AGAIN == 0) {
      log.warn(
          "the upkeep of stream \"{}\" has gone wrong {} times in a row; it is tried again, and the other streams go on",
          stream.name(),
          failures,
          e);
    } else {
      log.debug("the upkeep of stream \"{}\" went wrong", stream.name(), e);
    }
    try {
      database.autoCommitted(
          "note how the upkeep goes",
          connection -> {
            try (Call call = SurveySql.FAILED.asRelaxedTransaction(system).on(connection)) {
              return call.set("stream", stream.id())
                  .set("error", String.valueOf(e.getMessage()))
                  .update();
            }
          });
    } catch (RuntimeException again) {
      e.addSuppressed(again);
    }
  }

  private void note(Map<Long, Post> posts, Map<Long, RuntimeException> errors) {
    if (!isEager && !note.isNow()) {
      return;
    }
    note.in(NOTE_EVERY);
    noteSuccess(
        posts.values().stream()
            .filter(post -> !errors.containsKey(post.worker()))
            .filter(
                post ->
                    memories.containsKey(post.owner()) && !memories.get(post.owner()).isFailing())
            .map(Post::owner)
            .toList());
  }

  private void noteSuccess(List<Long> streams) {
    database.autoCommitted(
        "note how the upkeep goes",
        connection -> {
          try (Call call = SurveySql.SUCCEEDED.asRelaxedTransaction(system).on(connection)) {
            return call.setArray("streams", "bigint", streams.toArray()).update();
          }
        });
  }

  /** Tables that were partitions, and could not be dropped at once. */
  private void dropLeftBehind(Map<Long, Post> posts, Map<Long, RuntimeException> errors) {
    if (!isEager && !lookBehind.isNow()) {
      return;
    }
    lookBehind.in(LOOK_BEHIND_EVERY);
    for (Slice slice : slices.leftBehind()) {
      @Nullable Post post = posts.get(slice.streamId());
      if (post != null && post.isHeld()) {
        try {
          slices.drop(slice);
        } catch (RuntimeException e) {
          // something of others hangs on it
          log.warn("{} was given up by retention, and can't be dropped", slice.name(), e);
          errors.putIfAbsent(post.worker(), e);
        }
      }
    }
  }

  /**
   * Does everything that is due for one stream, now, whoever else keeps it up.
   *
   * @throws StreamNotFoundException when it was destroyed meanwhile
   */
  public UpkeepRun run(StreamInfo stream) {
    Tally tally = new Tally(() -> true);
    List<Survey> found = surveyor.survey(List.of(stream.id()));
    if (found.isEmpty()) {
      throw new StreamNotFoundException(stream.name());
    }
    caretaker.turn(found.get(0), new Memory(true), tally);
    for (Slice slice : slices.leftBehind()) {
      if (slice.streamId() == stream.id()) {
        slices.drop(slice);
      }
    }
    noteSuccess(List.of(stream.id()));
    return tally.result();
  }
}
