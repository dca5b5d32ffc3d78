package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Binding;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.Start;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bindings as they are declared, told and kept. */
@SqlStreamsTest
class BindingsIT {
  private static final GroupConfig ALL = GroupConfig.defaults();
  private static final GroupConfig EU = ALL.withBindings("orders.eu.*");
  private static final GroupConfig GOLD =
      ALL.withBindings(Binding.header("region", "eu").and("tier", "gold"));

  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private StreamHandle<RawPayload> handle() {
    return client.stream(stream.name());
  }

  private ConsumerGroup<RawPayload> group() {
    return handle().group("g");
  }

  private long produce(String routingKey) {
    return handle()
        .producer()
        .produce(RawPayload.of("{}"), ProduceOptions.defaults().withRoutingKey(routingKey))
        .id();
  }

  @Test
  void aGroupIsGivenWhatItsBindingsMatch() {
    ConsumerGroup<RawPayload> both = handle().group("both");
    both.register(
        ALL.withBindings(
            Binding.routingKey("orders.eu.*"), Binding.header("region", "eu").and("tier", "gold")));
    long byKey = produce("orders.eu.placed");
    long neither = produce("orders.us.placed");
    long byHeaders =
        handle()
            .producer()
            .produce(
                RawPayload.of("{}"),
                ProduceOptions.defaults().withHeader("tier", "gold").withHeader("region", "eu"))
            .id();
    List<Long> seen = new CopyOnWriteArrayList<>();
    try (Consumption running =
        both.consume(
            message -> {
              seen.add(message.id());
              return Outcome.done();
            },
            Consumer.QUICK)) {
      Await.until(
          "the group has passed all",
          () -> both.snapshot().claimed() == byHeaders && seen.size() == 2);
    }
    assertThat(seen).containsExactlyInAnyOrder(byKey, byHeaders).doesNotContain(neither);
  }

  @Test
  void aSetComesBackAsItWasDeclaredAndIsStoredWithItsMeaning() {
    Set<Binding> bindings =
        Set.of(
            Binding.routingKey("a.b*c"),
            Binding.routingKey("O'Reilly \\ 100%"),
            Binding.header("a \"b\"", "ü"));
    group().register(ALL.withBindings(bindings));
    assertThat(group().get().orElseThrow().config().bindings()).isEqualTo(bindings);
    assertThat(group().bindings().bindings()).isEqualTo(bindings);
    assertThat(handle().groups().get(0).config().bindings()).isEqualTo(bindings);
    assertThat(
            stream.rows(
                "SELECT pattern, regex, headers FROM {bindings} ORDER BY pattern COLLATE \"C\""))
        .containsExactly(
            "O'Reilly \\ 100%|^O\\'Reilly\\ \\\\\\ 100\\%$|null",
            "a.b*c|^a\\.b.*c$|null", "null|null|{\"a \\\"b\\\"\": \"ü\"}");
  }

  @Test
  void theTrailTellsWhatHoldsAndSinceWhere() {
    produce("orders.eu.1");
    produce("orders.us.2");
    List<Long> old = new StepReader(stream).poll();
    assertThat(old).containsExactly(1L, 2L);

    group().register(EU);
    GroupBindings waiting = group().bindings();
    assertThat(waiting.bindings()).isEqualTo(EU.bindings());
    assertThat(waiting.schemaVersions()).isEmpty();
    assertThat(waiting.state()).isEqualTo(GroupBindings.State.WAITING);
    assertThat(waiting.above()).isEqualTo(2);
    assertThat(waiting.declaredAt()).isNotNull();
    stream.execute("DELETE FROM {lease}");
    assertThat(group().bindings().state()).isEqualTo(GroupBindings.State.INSTALLED);

    // declared again by each process at each start
    for (int i = 0; i < 3; i++) {
      group().register(EU);
    }
    group().register(GOLD);
    group().register(ALL);
    assertThat(
            stream.rows(
                "SELECT filter, patterns, headers, schema_versions, result, above FROM {trail} ORDER BY id"))
        .containsExactly(
            "1|{}|{}|null|installed|0",
            "2|{orders.eu.*}|{}|null|waiting|2",
            "2|{orders.eu.*}|{}|null|joined|2",
            "3|{}|{\"{\\\"tier\\\": \\\"gold\\\", \\\"region\\\": \\\"eu\\\"}\"}|null|installed|2",
            "4|{}|{}|null|installed|2");
  }

  @Test
  void anEqualSetWritesNothingTheSecondTimeWhateverItsOrder() {
    group().register(ALL.withBindings("a", "b"));
    group().register(ALL.withBindings("b", "a"));
    long cursor = stream.number("SELECT xmin::TEXT::BIGINT FROM {cursor}");
    List<Long> bindings = stream.longs("SELECT id FROM {bindings} ORDER BY id");
    long trail = stream.number("SELECT count(*) FROM {trail}");
    group().register(ALL.withBindings("b", "a", "b"));
    assertThat(stream.number("SELECT xmin::TEXT::BIGINT FROM {cursor}")).isEqualTo(cursor);
    assertThat(stream.longs("SELECT id FROM {bindings} ORDER BY id")).isEqualTo(bindings);
    assertThat(stream.number("SELECT count(*) FROM {trail}")).isEqualTo(trail);
  }

  @Test
  void otherSettingsLeaveTheSetAndItsPointAlone() {
    group().register(EU);
    produce("orders.eu.1");
    new StepReader(stream).poll();
    group().register(EU.withMaxRangeReclaims(7));
    assertThat(group().bindings().above()).isZero();
    assertThat(stream.number("SELECT filter FROM {cursor}")).isEqualTo(2);
  }

  @Test
  void aNewGroupHoldsItsSetFromItsStartOn() {
    produce("a");
    ConsumerGroup<RawPayload> late = handle().group("late");
    late.register(EU.withStart(Start.head()));
    assertThat(late.bindings())
        .returns(EU.bindings(), GroupBindings::bindings)
        .returns(1L, GroupBindings::above)
        .returns(GroupBindings.State.INSTALLED, GroupBindings::state);
    assertThatThrownBy(() -> handle().group("nobody").bindings())
        .isInstanceOf(GroupNotFoundException.class);
  }

  @Test
  void aRewindReadsEverythingAboveItsPlaceByTheSetInForce() {
    for (int i = 1; i <= 3; i++) {
      produce("orders.eu." + i);
      produce("orders.us." + i);
    }
    assertThat(new StepReader(stream).poll()).hasSize(6);
    stream.execute("DELETE FROM {lease}");
    group().register(EU);
    assertThat(group().bindings().above()).isEqualTo(6);
    assertThat(group().previewRewind(Start.after(2)))
        .returns(2L, Rewind::messages)
        .returns(3L, Rewind::firstId)
        .returns(5L, Rewind::lastId);
    assertThat(group().rewind(Start.after(2)).messages()).isEqualTo(2);
    assertThat(group().bindings().above()).isEqualTo(2);
    assertThat(new StepReader(stream).poll()).containsExactly(3L, 5L);
  }

  @Test
  void messagesInTheExceptionQueueStayWhateverTheNewSetSays() throws InterruptedException {
    long id = produce("orders.us.1");
    CountDownLatch failed = new CountDownLatch(1);
    try (Consumption running =
        group()
            .consume(
                message -> {
                  failed.countDown();
                  return Outcome.delay(java.time.Duration.ofMillis(1));
                },
                Consumer.QUICK)) {
      failed.await();
      Await.until("it waits", () -> stream.number("SELECT count(*) FROM {queue}") == 1);
    }
    group().register(EU);
    List<Long> seen = new CopyOnWriteArrayList<>();
    try (Consumption running =
        group()
            .consume(
                message -> {
                  seen.add(message.id());
                  return Outcome.done();
                },
                Consumer.QUICK)) {
      stream.awaitSettled();
    }
    assertThat(seen).containsExactly(id);
  }

  @Test
  void theLagCountsWhatTheGroupWouldRead() {
    group().register(EU);
    produce("orders.us.1");
    long first = produce("orders.eu.2");
    produce("orders.us.3");
    produce("orders.eu.4");
    GroupSnapshot before = group().snapshot();
    assertThat(before.lag()).isEqualTo(new GroupLag(2, 0, 0, true));
    assertThat(before.oldestUnclaimed()).isNotNull();
    assertThat(before.oldestUnclaimed().id()).isEqualTo(first);
    new StepReader(stream).poll();
    assertThat(group().snapshot().lag()).isEqualTo(new GroupLag(0, 2, 0, true));
  }

  /** Of what lies behind the limit each id counts. */
  @Test
  void aLagThatWasNotCountedWholeIsAnUpperBoundAndSaysSo() {
    group().register(EU);
    stream.execute(
        "INSERT INTO {log} (schema_version, routing_key, payload)"
            + " SELECT 1, CASE WHEN i % 10 = 0 THEN 'orders.eu.x' ELSE 'y' END, '{}' FROM generate_series(1, "
            + (GroupSnapshot.COUNT_LIMIT + 500)
            + ") AS i");
    assertThat(group().snapshot().lag())
        .isEqualTo(new GroupLag(GroupSnapshot.COUNT_LIMIT / 10 + 500, 0, 0, false));
  }

  @Test
  void aLookAtAMessageSaysThatAGroupPassesItOver() {
    group().register(EU);
    long us = produce("orders.us.1");
    long eu = produce("orders.eu.2");
    assertThat(state(us)).isEqualTo(DeliveryState.SKIPPED);
    assertThat(state(eu)).isEqualTo(DeliveryState.WAITING);
    new StepReader(stream).polls(2);
    assertThat(state(us)).isEqualTo(DeliveryState.SKIPPED);
    assertThat(state(eu)).isEqualTo(DeliveryState.CLAIMED);
    // an earlier set holds for what is claimed, as long as that is known
    group().register(GOLD);
    assertThat(state(us)).isEqualTo(DeliveryState.SKIPPED);
    assertThat(state(eu)).isEqualTo(DeliveryState.CLAIMED);
    stream.execute("DELETE FROM {lease}");
    assertThat(state(us)).isEqualTo(DeliveryState.PASSED);
    assertThat(state(eu)).isEqualTo(DeliveryState.PASSED);
  }

  /** Everything a binding touches is in the installation's own schema. */
  @Test
  void b52_twoInstallationsHaveBindingsOfTheirOwn() {
    String other = database.schema() + "_b";
    try (SqlStreams second =
        SqlStreams.builder(TestPool.shared(database)).schema(other).allowDestroy(true).build()) {
      try {
        StreamHandle<RawPayload> twin = second.stream(stream.name());
        twin.register();
        twin.group("g").register(GOLD);
        group().register(EU);
        assertThat(twin.group("g").bindings().bindings()).isEqualTo(GOLD.bindings());
        assertThat(group().bindings().bindings()).isEqualTo(EU.bindings());
        long here = produce("orders.eu.1");
        twin.producer()
            .produce(
                RawPayload.of("{}"),
                ProduceOptions.defaults().withHeader("region", "eu").withHeader("tier", "gold"));
        for (StreamHandle<RawPayload> each : List.of(handle(), twin)) {
          List<Long> seen = new CopyOnWriteArrayList<>();
          try (Consumption running =
              each.group("g")
                  .consume(
                      message -> {
                        seen.add(message.id());
                        return Outcome.done();
                      },
                      Consumer.QUICK)) {
            Await.until("it is handled", () -> seen.size() == 1);
          }
          assertThat(seen).containsExactly(here);
          assertThat(each.versions()).hasSize(1);
          assertThat(each.group("g").snapshot().lag().messages()).isZero();
        }
      } finally {
        second.system().destroy();
      }
    }
  }

  @Test
  void aDestroyedGroupLeavesNoBindingsAndASecondOneBeginsAnew() {
    ConsumerGroup<RawPayload> other = handle().group("other-" + UUID.randomUUID());
    other.register(EU);
    other.destroy();
    assertThat(stream.number("SELECT count(*) FROM {bindings}")).isZero();
    other.register(ALL);
    assertThat(other.bindings().bindings()).isEmpty();
  }

  private DeliveryState state(long id) {
    return handle().message(id).orElseThrow().deliveries().get(0).state();
  }
}
