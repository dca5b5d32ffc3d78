package io.sqlstreams.internal.schedule;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.DeliveryState;
import io.sqlstreams.GroupDelivery;
import io.sqlstreams.Message;
import io.sqlstreams.MessageInfo;
import io.sqlstreams.Outcome;
import io.sqlstreams.Produced;
import io.sqlstreams.ScheduleHandle;
import io.sqlstreams.ScheduleInfo;
import io.sqlstreams.ScheduleStatus;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.codec.SchemaVersion;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.MissedRuns;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.ScheduleNotFoundException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.ScheduleManager;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What schedules are declared to be, and what people do with them. */
@SqlStreamsTest
class ScheduleIT {
  private static final Cron NIGHTLY = Cron.of("0 2 * * *", ZoneId.of("Europe/Oslo"));
  private static final Cron QUARTER_MINUTES = Cron.of("*/15 * * * * *");

  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  ScheduleProducer producer;

  @SchemaVersion(3)
  record InvoiceRun(String region) {}

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
    client.schedules().forEach(schedule -> client.schedule(schedule.name()).destroy());
    producer = ScheduleManager.duty(stream.dataSource(), database.schema(), id -> {});
  }

  @AfterEach
  void close() {
    client.close();
  }

  private ScheduleHandle nightly() {
    return client.schedule("invoices.nightly");
  }

  /** As if the time had come so long ago. */
  private void makeDue(ScheduleHandle schedule, Instant planned) {
    stream.execute(
        "UPDATE {schema}.schedule_cursor SET next_scheduled_at = '%s' WHERE schedule_id = %d"
            .formatted(planned, schedule.get().orElseThrow().id()));
  }

  private Instant now() {
    return Instant.parse(
        stream
            .rows(
                "SELECT to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD\"T\"HH24:MI:SS.US\"Z\"')")
            .get(0));
  }

  /** The last of the planned times that is so long past. */
  private Instant plannedBefore(Cron cron, Duration past) {
    Instant end = now().minus(past);
    Instant time = cron.next(end.minus(Duration.ofMinutes(2)));
    while (!cron.next(time).isAfter(end)) {
      time = cron.next(time);
    }
    return time;
  }

  private List<MessageInfo> messages() {
    List<MessageInfo> messages = new ArrayList<>();
    for (long id : stream.longs("SELECT id FROM {log} ORDER BY id")) {
      messages.add(client.stream(stream.name()).message(id).orElseThrow());
    }
    return messages;
  }

  @Test
  void whatWasDeclaredIsThereAndPlannedAfterThisMoment() {
    Instant before = now();
    ScheduleInfo declared =
        nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"), ScheduleConfig.defaults());
    assertThat(nightly().get()).contains(declared);
    assertThat(client.schedules()).containsExactly(declared);
    assertThat(declared.name()).isEqualTo("invoices.nightly");
    assertThat(declared.stream()).isEqualTo(stream.name());
    assertThat(declared.cron()).isEqualTo(NIGHTLY);
    assertThat(declared.schemaVersion()).isEqualTo(3);
    assertThat(declared.payload().text()).isEqualTo("{\"region\":\"eu\"}");
    assertThat(declared.suspended()).isFalse();
    assertThat(declared.nextScheduledAt()).isEqualTo(NIGHTLY.next(before));
    assertThat(declared.lastScheduledAt()).isNull();
    assertThat(nightly().nextTimes(3)).isEqualTo(NIGHTLY.next(before, 3));
    assertThat(nightly().nextTimes(0)).isEmpty();
    assertThat(nightly().status().groups()).isEmpty();
  }

  @Test
  void anEqualDeclarationWritesNothingAndTheNewestWins() {
    ScheduleConfig config =
        ScheduleConfig.defaults()
            .withMissedRuns(MissedRuns.ALL)
            .withMissedAfter(Duration.ofMinutes(1))
            .withOptions(
                ProduceOptions.key("k")
                    .withRoutingKey("r")
                    .withHeader("h", "v")
                    .withTimeout(Duration.ofSeconds(7))
                    .withRetry(RetryPolicy.defaults().withMaxRetries(9))
                    .withConcurrency(Concurrency.EXCLUSIVE)
                    .withCompaction(12));
    ScheduleInfo first = nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"), config);
    assertThat(first.config()).isEqualTo(config);
    String version = "SELECT xmin::text FROM {schema}.schedule_config";
    List<String> before = stream.rows(version);
    assertThat(nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"), config))
        .isEqualTo(first);
    assertThat(stream.rows(version)).isEqualTo(before);

    ScheduleInfo second = nightly().register(stream.name(), QUARTER_MINUTES, new InvoiceRun("us"));
    assertThat(second.id()).isEqualTo(first.id());
    assertThat(second.cron()).isEqualTo(QUARTER_MINUTES);
    assertThat(second.config()).isEqualTo(ScheduleConfig.defaults());
    assertThat(second.payload().text()).isEqualTo("{\"region\":\"us\"}");
    assertThat(second.nextScheduledAt()).isBefore(now().plusSeconds(16));
    assertThat(stream.rows(version)).isNotEqualTo(before);
  }

  @Test
  void anotherCronDropsWhatWasDueAndAnythingElseKeepsIt() {
    nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"));
    Instant due = NIGHTLY.next(now().minus(Duration.ofDays(3)));
    makeDue(nightly(), due);
    ScheduleInfo other = nightly().register(stream.name(), NIGHTLY, new InvoiceRun("us"));
    assertThat(other.nextScheduledAt()).isEqualTo(due);
    Instant before = now();
    nightly().register(stream.name(), QUARTER_MINUTES, new InvoiceRun("us"));
    assertThat(nightly().nextTimes(1).get(0)).isAfter(before);
  }

  @Test
  void aPlannedMessageHasAllThatWasDeclared() {
    ScheduleConfig config =
        ScheduleConfig.defaults()
            .withOptions(
                ProduceOptions.key("k")
                    .withRoutingKey("r")
                    .withHeader("h", "v")
                    .withTimeout(Duration.ofSeconds(7))
                    .withConcurrency(Concurrency.EXCLUSIVE)
                    .withCompaction(12));
    nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"), config);
    Instant planned = NIGHTLY.next(now().minus(Duration.ofDays(1)));
    makeDue(nightly(), planned);
    ScheduleManager.perform(producer);

    MessageInfo message = messages().get(0);
    assertThat(message.key()).isEqualTo("k");
    assertThat(message.routingKey()).isEqualTo("r");
    assertThat(message.headers()).containsExactly(Map.entry("h", "v"));
    assertThat(message.timeout()).isEqualTo(Duration.ofSeconds(7));
    assertThat(message.schemaVersion()).isEqualTo(3);
    assertThat(message.payload()).isEqualTo(RawPayload.of("{\"region\":\"eu\"}"));
    assertThat(message.scheduledRun().schedule()).isEqualTo("invoices.nightly");
    assertThat(message.scheduledRun().scheduledAt()).isEqualTo(planned);
    assertThat(message.scheduledRun().byHand()).isFalse();
    assertThat(client.stream(stream.name()).key("k").head().orElseThrow().id())
        .isEqualTo(message.id());
    assertThat(nightly().get().orElseThrow().lastScheduledAt()).isEqualTo(planned);
    assertThat(nightly().get().orElseThrow().nextScheduledAt()).isEqualTo(NIGHTLY.next(now()));
    ScheduleManager.perform(producer);
    assertThat(messages()).hasSize(1);
  }

  @Test
  void handlersSeeThePlannedTimeAndTheStatusWhatBecameOfIt() {
    nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"));
    Instant planned = NIGHTLY.next(now().minus(Duration.ofDays(1)));
    makeDue(nightly(), planned);
    stream.produce(1);
    ScheduleManager.perform(producer);
    ScheduleStatus fresh = nightly().status();
    assertThat(fresh.groups())
        .extracting(GroupDelivery::state)
        .containsExactly(DeliveryState.WAITING);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> message.scheduledAt() == null ? Outcome.done() : Outcome.dead("no"))) {
      stream.awaitDead(1);
      assertThat(consumer.received().stream().map(Message::scheduledAt))
          .containsExactlyInAnyOrder(null, planned);
    }
    ScheduleStatus status = nightly().status();
    assertThat(status.lastMessage().id()).isEqualTo(fresh.lastMessage().id());
    assertThat(status.groups()).extracting(GroupDelivery::group).containsExactly("g");
    assertThat(status.groups())
        .extracting(GroupDelivery::state)
        .containsExactly(DeliveryState.DEAD);
  }

  @Test
  void aRunByHandIsOneMoreAndMarked() {
    nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"));
    List<Instant> times = nightly().nextTimes(5);
    Instant before = now();
    Produced one = nightly().runNow();
    Produced two = nightly().runNow();
    assertThat(two.id()).isGreaterThan(one.id());
    assertThat(messages())
        .hasSize(2)
        .allSatisfy(
            message -> {
              assertThat(message.scheduledRun().byHand()).isTrue();
              assertThat(message.scheduledRun().scheduledAt()).isBetween(before, now());
            });
    assertThat(nightly().nextTimes(5)).isEqualTo(times);
    assertThat(nightly().get().orElseThrow().lastScheduledAt()).isNull();
  }

  @Test
  void whatIsSuspendedProducesNothingAndIsNotMadeUpFor() {
    ScheduleConfig all = ScheduleConfig.defaults().withMissedRuns(MissedRuns.ALL);
    nightly().register(stream.name(), QUARTER_MINUTES, new InvoiceRun("eu"), all);
    makeDue(nightly(), plannedBefore(QUARTER_MINUTES, Duration.ofMinutes(10)));
    assertThat(nightly().suspend()).isTrue();
    assertThat(nightly().suspend()).as("it was already").isFalse();
    assertThat(nightly().get().orElseThrow().suspended()).isTrue();
    assertThat(nightly().nextTimes(3)).isEmpty();
    ScheduleManager.perform(producer);
    nightly().register(stream.name(), NIGHTLY, new InvoiceRun("us"), all);
    assertThat(nightly().get().orElseThrow().suspended()).as("after a declaration").isTrue();
    ScheduleManager.perform(producer);
    assertThat(messages()).isEmpty();
    nightly().runNow();
    assertThat(messages()).as("by hand").hasSize(1);
    assertThat(nightly().resume()).isTrue();
    assertThat(nightly().resume()).as("it was already").isFalse();
    assertThat(nightly().nextTimes(1)).containsExactly(NIGHTLY.next(now()));
    ScheduleManager.perform(producer);
    assertThat(messages()).hasSize(1);
  }

  /** Down for four planned times, of which the last is half as long past as they are apart. */
  @ParameterizedTest
  @CsvSource({"SKIP, 0", "LATEST, 1", "ALL, 4"})
  void b40_afterABreakThePolicySaysHowManyCome(MissedRuns policy, int late) {
    Instant last = now().truncatedTo(ChronoUnit.SECONDS).minus(Duration.ofHours(12));
    LocalTime time = last.atZone(ZoneOffset.UTC).toLocalTime();
    Cron daily =
        Cron.of("%d %d %d * * *".formatted(time.getSecond(), time.getMinute(), time.getHour()));
    nightly()
        .register(
            stream.name(),
            daily,
            new InvoiceRun("eu"),
            ScheduleConfig.defaults().withMissedRuns(policy));
    makeDue(nightly(), last.minus(Duration.ofDays(3)));
    ScheduleManager.perform(producer);
    ScheduleManager.perform(producer);
    assertThat(messages().stream().map(message -> message.scheduledRun().scheduledAt()))
        .isEqualTo(
            IntStream.range(0, late)
                .mapToObj(i -> last.minus(Duration.ofDays(late - 1L - i)))
                .toList());
    assertThat(nightly().nextTimes(1)).containsExactly(last.plus(Duration.ofDays(1)));
  }

  @Test
  void b40_whatIsMerelyLateComesWhateverThePolicy() {
    Cron secondly = Cron.of("* * * * * *");
    nightly()
        .register(
            stream.name(),
            secondly,
            new InvoiceRun("eu"),
            ScheduleConfig.defaults()
                .withMissedRuns(MissedRuns.SKIP)
                .withMissedAfter(Duration.ofMinutes(5)));
    Instant first = plannedBefore(secondly, Duration.ofSeconds(30));
    makeDue(nightly(), first);
    ScheduleManager.perform(producer);
    assertThat(messages().stream().map(m -> m.scheduledRun().scheduledAt()).limit(31))
        .isEqualTo(secondly.next(first.minusSeconds(1), 31));
  }

  @Test
  void b40_yearsOfSecondsAreNoMoreWorkThanAnHour() {
    nightly().register(stream.name(), Cron.of("* * * * * *"), new InvoiceRun("eu"));
    makeDue(nightly(), Instant.parse("1990-01-01T00:00:00Z"));
    ScheduleManager.perform(producer);
    assertThat(messages()).hasSizeBetween(1, 300);
    assertThat(nightly().nextTimes(1).get(0)).isAfter(now().minus(Duration.ofHours(1)));
  }

  /** A thousand messages a transaction: the rest comes with the next. */
  @Test
  void allThatWasMissedComesInBoundedTransactions() {
    Cron minutely = Cron.of("* * * * *");
    nightly()
        .register(
            stream.name(),
            minutely,
            new InvoiceRun("eu"),
            ScheduleConfig.defaults().withMissedRuns(MissedRuns.ALL));
    Instant first = minutely.next(now().minus(Duration.ofMinutes(2_500)));
    makeDue(nightly(), first);
    ScheduleManager.perform(producer);
    assertThat(stream.number("SELECT count(*) FROM {log}")).isBetween(2_499L, 2_510L);
    assertThat(stream.number("SELECT count(DISTINCT xmin::text) FROM {log}")).isEqualTo(3);
    assertThat(
            stream.number(
                "SELECT count(DISTINCT options ->> 'scheduled_at') FROM {log} WHERE options IS NOT NULL"))
        .isEqualTo(stream.number("SELECT count(*) FROM {log}"));
  }

  /** The test's JVM is in Asia/Tokyo. */
  @Test
  void b42_neitherTheJvmNorTheDatabaseHasAZoneThatCounts() {
    assertThat(ZoneId.systemDefault()).isEqualTo(ZoneId.of("Asia/Tokyo"));
    try (SqlStreams inNewYork =
        SqlStreams.builder(database.hostile()).schema(database.schema()).build()) {
      requireStatedZones(inNewYork);
    }
  }

  private void requireStatedZones(SqlStreams client) {
    Cron paris = Cron.of("30 6 * * *", ZoneId.of("Europe/Paris"));
    Cron none = Cron.of("30 6 * * *");
    client.schedule("invoices.nightly").register(stream.name(), paris, new InvoiceRun("eu"));
    client.schedule("b").register(stream.name(), none, new InvoiceRun("eu"));
    assertThat(client.schedule("invoices.nightly").nextTimes(3))
        .isEqualTo(paris.next(now(), 3))
        .allSatisfy(
            time ->
                assertThat(time.atZone(ZoneId.of("Europe/Paris")).toLocalTime())
                    .hasToString("06:30"));
    assertThat(client.schedule("b").nextTimes(3))
        .isEqualTo(none.next(now(), 3))
        .allSatisfy(time -> assertThat(time.toString()).endsWith("T06:30:00Z"));
    assertThat(client.schedules())
        .extracting(schedule -> schedule.cron().zone().getId())
        .containsExactly("UTC", "Europe/Paris");
    Instant planned = paris.next(now().minus(Duration.ofDays(1)));
    makeDue(nightly(), planned);
    ScheduleManager.perform(ScheduleManager.duty(database.hostile(), database.schema(), id -> {}));
    assertThat(messages()).hasSize(1);
    assertThat(messages().get(0).scheduledRun().scheduledAt()).isEqualTo(planned);
  }

  @Test
  void bytesGoAsTheyAreAndAStreamThatIsRenamedKeepsItsSchedule() {
    TestStream bytes =
        TestStream.register(
            database,
            StreamConfig.defaults().withPayloadType(PayloadType.BYTEA),
            GroupConfig.defaults());
    byte[] payload = {0, -1, 2};
    nightly().register(bytes.name(), NIGHTLY, payload);
    client.schedule("raw").register(stream.name(), NIGHTLY, RawPayload.of("[1.10]"));
    client.stream(bytes.name()).rename("renamed");
    assertThat(nightly().get().orElseThrow().stream()).isEqualTo("renamed");
    Produced run = nightly().runNow();
    assertThat(client.stream("renamed").message(run.id()).orElseThrow().payload().bytes())
        .isEqualTo(payload);
    long id = client.schedule("raw").runNow().id();
    assertThat(client.stream(stream.name()).message(id).orElseThrow().payload().text())
        .isEqualTo("[1.10]");
    client.stream("renamed").destroy();
    assertThat(nightly().get()).isEmpty();
    assertThat(client.schedule("raw").get()).isPresent();
  }

  /** A stream that takes the name of another doesn't take its messages. */
  @Test
  void aScheduleKeepsToItsStreamWhenNamesAreSwapped() {
    TestStream other = TestStream.register(database);
    nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"));
    nightly().runNow();
    client.stream(stream.name()).rename("s-gone");
    client.stream(other.name()).rename(stream.name());
    nightly().runNow();
    assertThat(stream.number("SELECT count(*) FROM {log}")).isEqualTo(2);
    assertThat(other.number("SELECT count(*) FROM {log}")).isZero();
  }

  @Test
  void anotherStreamCanBecomeTheTarget() {
    TestStream other = TestStream.register(database);
    nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"));
    Instant planned = NIGHTLY.next(now().minus(Duration.ofDays(1)));
    makeDue(nightly(), planned);
    ScheduleManager.perform(producer);
    assertThat(nightly().status().lastMessage()).isNotNull();
    other.produce(1); // has the same id
    nightly().register(other.name(), NIGHTLY, new InvoiceRun("eu"));
    assertThat(nightly().status().lastMessage()).as("it is in the other stream").isNull();
    nightly().runNow();
    assertThat(other.number("SELECT count(*) FROM {log}")).isEqualTo(2);
  }

  @Test
  void whatIsWrongIsRefusedBeforeAnythingIsWritten() {
    assertThatThrownBy(() -> nightly().register("missing", NIGHTLY, new InvoiceRun("eu")))
        .isInstanceOf(StreamNotFoundException.class);
    refused("name", () -> client.schedule("a b").register(stream.name(), NIGHTLY, "x"));
    refused("payload", () -> nightly().register(stream.name(), NIGHTLY, null));
    refused("cron", () -> nightly().register(stream.name(), null, "x"));
    refused("config", () -> nightly().register(stream.name(), NIGHTLY, "x", null));
    refused("stream", () -> nightly().register(null, NIGHTLY, "x"));
    refused(
        "payload", () -> nightly().register(stream.name(), NIGHTLY, RawPayload.of("{not json")));
    refused(
        "messageKey",
        () ->
            nightly()
                .register(
                    stream.name(),
                    NIGHTLY,
                    "x",
                    ScheduleConfig.defaults().withOptions(ProduceOptions.key("k".repeat(1_025)))));
    refused(
        "messageKey",
        () ->
            nightly()
                .register(
                    stream.name(),
                    NIGHTLY,
                    "x",
                    ScheduleConfig.defaults()
                        .withOptions(
                            ProduceOptions.defaults().withConcurrency(Concurrency.ORDERED))));
    refused(
        "idempotencyKey",
        () ->
            ScheduleConfig.defaults()
                .withOptions(ProduceOptions.defaults().withIdempotencyKey("one")));
    refused("missedAfter", () -> ScheduleConfig.defaults().withMissedAfter(Duration.ofSeconds(-1)));
    refused("count", () -> nightly().nextTimes(-1));
    TestStream small =
        TestStream.register(
            database, StreamConfig.defaults().withMaxPayloadBytes(10), GroupConfig.defaults());
    refused("payload", () -> nightly().register(small.name(), NIGHTLY, "x".repeat(20)));
    assertThat(stream.number("SELECT count(*) FROM {schema}.schedule_config")).isZero();
  }

  private static void refused(String field, Runnable work) {
    assertThatThrownBy(work::run)
        .isInstanceOfSatisfying(
            InvalidInputException.class, e -> assertThat(e.field()).isEqualTo(field));
  }

  @Test
  void aMissingScheduleIsSaidToBeMissing() {
    ScheduleHandle missing = client.schedule("missing");
    assertThat(missing.get()).isEmpty();
    assertThat(client.schedule("no such name!").get()).isEmpty();
    List<Runnable> verbs =
        List.of(
            missing::runNow,
            missing::suspend,
            missing::resume,
            missing::status,
            () -> missing.nextTimes(1));
    for (Runnable verb : verbs) {
      assertThatThrownBy(verb::run)
          .isInstanceOfSatisfying(
              ScheduleNotFoundException.class, e -> assertThat(e.schedule()).isEqualTo("missing"));
    }
    missing.destroy();
  }

  @Test
  void destroyingNeedsLeaveAndRegisteringAgainBeginsAnew() {
    ScheduleInfo first = nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"));
    try (SqlStreams careful =
        SqlStreams.builder(stream.dataSource()).schema(database.schema()).build()) {
      assertThatThrownBy(() -> careful.schedule("invoices.nightly").destroy())
          .isInstanceOf(DestroyNotAllowedException.class);
    }
    Instant planned = NIGHTLY.next(now().minus(Duration.ofDays(1)));
    makeDue(nightly(), planned);
    ScheduleManager.perform(producer);
    nightly().destroy();
    assertThat(nightly().get()).isEmpty();
    assertThat(messages()).as("its messages stay").hasSize(1);
    ScheduleInfo second = nightly().register(stream.name(), NIGHTLY, new InvoiceRun("eu"));
    assertThat(second.id()).isNotEqualTo(first.id());
    makeDue(nightly(), planned);
    ScheduleManager.perform(producer);
    assertThat(messages()).as("another schedule, so another message").hasSize(2);
  }

  @Test
  void manyThatRegisterTheSameAtOnceRegisterOne() {
    List<ScheduleInfo> registered =
        IntStream.range(0, 8)
            .parallel()
            .mapToObj(
                i -> client.schedule("same").register(stream.name(), NIGHTLY, new InvoiceRun("eu")))
            .toList();
    assertThat(registered).extracting(ScheduleInfo::id).containsOnly(registered.get(0).id());
  }
}
