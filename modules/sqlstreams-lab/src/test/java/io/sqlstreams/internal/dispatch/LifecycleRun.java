package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.lab.Script;
import io.sqlstreams.lab.ScriptSettings;
import io.sqlstreams.lab.ScriptSettings.Mode;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.TestDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** One run of the model test on a stream of its own. For one use. */
final class LifecycleRun {
  private static final long LONGEST_DRAIN_NANOS = TimeUnit.SECONDS.toNanos(120);
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(25);
  private static final Pattern COUNTER = Pattern.compile("(\\w+)=(\\d+)");

  private final TestDatabase database;
  private final Plan plan;
  private final Random random;
  private final Path directory;
  private final List<Long> ids = new ArrayList<>();
  private final List<Long> groupIds = new ArrayList<>();

  /**
   * @param directory for the ledgers, of this run alone
   */
  LifecycleRun(TestDatabase database, Plan plan, Path directory) {
    this.database = database;
    this.plan = plan;
    this.random = new Random(~plan.seed());
    this.directory = directory;
  }

  /** Fails when something isn't as the model says. */
  void run() {
    try (SqlStreams client = TestStream.client(database)) {
      StreamHandle<RawPayload> stream = client.stream("s-" + UUID.randomUUID());
      ModelTables tables = new ModelTables(database, stream.register().id());
      for (Plan.Group group : plan.groups()) {
        groupIds.add(stream.group(group.name()).register(group.config()).id());
      }
      tables.create();
      try (Fleet fleet = new Fleet(settings(stream.name(), tables), directory, random)) {
        play(stream, tables, fleet);
        drain(tables, fleet);
        check(tables, fleet);
      }
    }
  }

  private ScriptSettings settings(String stream, ModelTables tables) {
    return new ScriptSettings(
        database.jdbcUrl(),
        database.schema(),
        stream,
        tables.effects(),
        "",
        plan.handlers(),
        plan.maxClaim(),
        plan.maxBatch(),
        // where nothing is to be lost, a slow machine must not lose it either
        plan.kind() == Plan.Kind.WILD ? 1_000 : 30_000,
        plan.groups().stream()
            .map(group -> new ScriptSettings.Group(group.name(), group.mode()))
            .toList());
  }

  /** Produces bit by bit, and does something to the processes in between. */
  private void play(StreamHandle<RawPayload> stream, ModelTables tables, Fleet fleet) {
    int bit = plan.messages().size() / (plan.actions().size() + 1);
    produce(stream, bit);
    fleet.start();
    fleet.start();
    for (Plan.Action action : plan.actions()) {
      fleet.awaitProgress(1 + random.nextInt(2 * bit));
      switch (action) {
        case RELEASE -> plan.groups().forEach(group -> release(stream.group(group.name())));
        case CUT -> tables.cut(stream.name());
        default -> fleet.act(action);
      }
      produce(stream, bit);
    }
    produce(stream, plan.messages().size() - ids.size());
  }

  private void produce(StreamHandle<RawPayload> stream, int number) {
    List<Outgoing<RawPayload>> bit =
        plan.messages().subList(ids.size(), ids.size() + number).stream()
            .map(
                message ->
                    Outgoing.of(
                        RawPayload.of(Script.payload(message.scripts())), message.options()))
            .toList();
    stream.producer().produceAll(bit).stream().map(Produced::id).forEach(ids::add);
  }

  /** The session of some lease loses all its ranges. */
  private void release(ConsumerGroup<RawPayload> group) {
    List<UUID> sessions =
        group.leases().stream().map(lease -> lease.session()).filter(Objects::nonNull).toList();
    if (!sessions.isEmpty()) {
      group.releaseLeases(sessions.get(random.nextInt(sessions.size())));
    }
  }

  private void drain(ModelTables tables, Fleet fleet) {
    if (plan.kind() == Plan.Kind.WILD) {
      fleet.endAll();
    }
    long end = System.nanoTime() + LONGEST_DRAIN_NANOS;
    while (tables.open() > 0) {
      fleet.keepOne();
      if (System.nanoTime() > end) {
        throw new AssertionError("it comes to no end: " + openText(tables));
      }
      LockSupport.parkNanos(PAUSE_NANOS);
    }
    fleet.finishAll();
    assertThat(tables.open()).as("open after the last stop").isZero();
  }

  private static String openText(ModelTables tables) {
    return tables.query("SELECT lease::TEXT FROM {lease} AS lease", row -> row.getString(1))
        + ", "
        + tables.query(
            "SELECT queue::TEXT FROM {queue} AS queue WHERE status <> 'dead'",
            row -> row.getString(1))
        + ", "
        + tables.query("SELECT cursor::TEXT FROM {cursor} AS cursor", row -> row.getString(1));
  }

  private void check(ModelTables tables, Fleet fleet) {
    Map<ModelTables.Where, List<Delivered>> delivered = tables.delivered();
    Map<ModelTables.Where, List<QueueChange>> changes = tables.changes();
    Map<ModelTables.Where, List<String>> left = tables.left();
    for (int group = 0; group < groupIds.size(); group++) {
      Set<Fleet.Attempted> attempted = fleet.attempted(group);
      Set<Long> done = new TreeSet<>();
      for (int i = 0; i < ids.size(); i++) {
        ModelTables.Where where = new ModelTables.Where(groupIds.get(group), ids.get(i));
        List<Delivered> rows = delivered.getOrDefault(where, List.of());
        List<QueueChange> queue = changes.getOrDefault(where, List.of());
        List<String> remains = left.getOrDefault(where, List.of());
        try {
          if (check(group, i, rows, queue, remains, attempted)) {
            done.add(ids.get(i));
          }
        } catch (WrongHistoryException e) {
          throw new AssertionError(
              "message %d of group %s: %s%ndelivery log %s%nqueue %s%nleft %s%nattempts %s"
                  .formatted(
                      ids.get(i),
                      plan.groups().get(group),
                      e.getMessage(),
                      rows,
                      queue,
                      remains,
                      attempted.stream().filter(a -> a.message() == where.message()).toList()),
              e);
        }
      }
      if (plan.groups().get(group).mode() == Mode.TRANSACTIONAL) {
        assertThat(tables.effectsOfMessages())
            .as("effects, each once, of what is done")
            .containsExactlyElementsOf(done);
      }
      checkCounters(group, fleet, delivered);
    }
    assertThat(delivered.keySet()).as("of messages that were produced").allMatch(this::isKnown);
    assertThat(changes.keySet()).as("of messages that were produced").allMatch(this::isKnown);
  }

  private boolean isKnown(ModelTables.Where where) {
    return groupIds.contains(where.group()) && ids.contains(where.message());
  }

  /** Replays what happened to one message in one group; gives whether it is done. */
  private boolean check(
      int group,
      int index,
      List<Delivered> rows,
      List<QueueChange> changes,
      List<String> left,
      Set<Fleet.Attempted> attempted) {
    Plan.Wanted message = plan.messages().get(index);
    Lifecycle model =
        new Lifecycle(
            message.scripts().get(group),
            Granted.of(plan.groups().get(group).config(), message.options()));
    QueueTrace trace = new QueueTrace(changes);
    if (trace.isQuarantined()) {
      model.quarantined();
    }
    rows.forEach(model::delivered);
    model.ended();
    trace.check(model.queue());
    String expected = model.left();
    require(
        left.equals(expected == null ? List.of() : List.of(expected)),
        "left " + left + " where the model leaves " + expected);
    long id = ids.get(index);
    for (Delivered row : rows) {
      require(
          row.event().equals("expired")
              || attempted.contains(new Fleet.Attempted(id, row.attempt())),
          row + " without an attempt");
    }
    require(
        attempted.stream().noneMatch(a -> a.message() == id && a.attempt() >= model.attempts()),
        "an attempt after the end, which came after " + model.attempts());
    return model.isDone();
  }

  private static void require(boolean holds, String what) {
    if (!holds) {
      throw new WrongHistoryException(what);
    }
  }

  private void checkCounters(
      int group, Fleet fleet, Map<ModelTables.Where, List<Delivered>> delivered) {
    if (plan.kind() == Plan.Kind.WILD) {
      return;
    }
    Map<String, Long> told = told(group, fleet);
    List<List<Delivered>> histories =
        delivered.entrySet().stream()
            .filter(entry -> entry.getKey().group() == groupIds.get(group))
            .map(Map.Entry::getValue)
            .toList();
    List<Delivered> last = histories.stream().map(rows -> rows.get(rows.size() - 1)).toList();
    List<Delivered> earlier =
        histories.stream().flatMap(rows -> rows.subList(0, rows.size() - 1).stream()).toList();
    long done = count(last, "success");
    Map<String, Long> expected =
        new HashMap<>(
            Map.of(
                "done",
                done,
                "dead",
                last.size() - done,
                "retried",
                count(earlier, "failure"),
                "delayed",
                count(earlier, "delayed"),
                "leaseLost",
                0L,
                "quarantined",
                0L,
                "undecodable",
                0L,
                "abandoned",
                0L));
    if (plan.kind() == Plan.Kind.CALM) {
      expected.put("claimed", (long) ids.size());
      expected.put("reclaimed", 0L);
    } else {
      assertThat(told.get("claimed")).isGreaterThanOrEqualTo(ids.size());
    }
    assertThat(told).as("counters of %s", plan.groups().get(group)).containsAllEntriesOf(expected);
    long overTime =
        histories.stream()
            .flatMap(List::stream)
            .filter(row -> String.valueOf(row.error()).startsWith("the handler took longer"))
            .count();
    assertThat(told.get("timedOut")).isGreaterThanOrEqualTo(overTime);
  }

  private static long count(List<Delivered> rows, String event) {
    return rows.stream().filter(row -> row.event().equals(event)).count();
  }

  /** The sums over all processes. */
  private static Map<String, Long> told(int group, Fleet fleet) {
    return fleet.counters().stream()
        // one that was stopped right away has consumed for nobody, or for the first group alone
        .map(line -> line.split(";", -1))
        .filter(groups -> groups.length > group)
        .map(groups -> groups[group])
        .flatMap(line -> COUNTER.matcher(line).results())
        .collect(
            Collectors.groupingBy(
                found -> found.group(1),
                Collectors.summingLong(found -> Long.parseLong(found.group(2)))));
  }
}
