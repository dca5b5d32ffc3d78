package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.codec.SchemaVersion;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Groups read the schema versions that their handle declares; upcasters let them read older ones.
 */
@SqlStreamsTest
class SchemaVersionIT {
  private static final GroupConfig QUICK_RETRY =
      GroupConfig.defaults()
          .withRetry(
              RetryPolicy.defaults()
                  .withMaxRetries(2)
                  .withInitialBackoff(Duration.ofMillis(20))
                  .withBackoff(Duration.ofMillis(20), 1));

  record OrderV1(String id) {}

  @SchemaVersion(2)
  record OrderV2(String id, int quantity) {}

  @SchemaVersion(3)
  record Order(String id, int quantity, String unit) {}

  @SchemaVersion(0)
  record NoVersion(String id) {}

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

  private <T> StreamHandle<T> handle(Class<T> type) {
    return client.stream(stream.name(), type);
  }

  private StreamHandle<Order> upgrading() {
    return handle(Order.class)
        .upgrade(1, OrderV1.class, v1 -> new Order(v1.id(), 1, "piece"))
        .upgrade(2, OrderV2.class, v2 -> new Order(v2.id(), v2.quantity(), "piece"));
  }

  private void produceOneOfEach() {
    handle(OrderV1.class).producer().produce(new OrderV1("a"));
    handle(OrderV2.class).producer().produce(new OrderV2("b", 2));
    handle(Order.class).producer().produce(new Order("c", 3, "box"));
  }

  @Test
  void aGroupStepsOverTheVersionsThatItDoesNotDeclare() {
    ConsumerGroup<OrderV2> group = handle(OrderV2.class).group("two");
    assertThat(group.register(QUICK_RETRY).schemaVersions()).containsExactly(2);
    produceOneOfEach();
    List<OrderV2> seen = new CopyOnWriteArrayList<>();
    try (Consumption running =
        group.consume(
            message -> {
              seen.add(message.payload());
              return Outcome.done();
            },
            Consumer.QUICK)) {
      awaitPassed("two");
      assertThat(running.counters().undecodable()).isZero();
    }
    assertThat(seen).containsExactly(new OrderV2("b", 2));
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
    assertThat(state("two", 1)).isEqualTo(DeliveryState.SKIPPED);
    assertThat(state("two", 2)).isEqualTo(DeliveryState.PASSED);
  }

  /** How a handler is called. */
  enum Way {
    SINGLE,
    BATCH,
    TRANSACTIONAL
  }

  @ParameterizedTest
  @EnumSource(Way.class)
  void upcastersLetOneGroupReadOlderVersions(Way way) {
    ConsumerGroup<Order> group = upgrading().group("all");
    assertThat(group.register(QUICK_RETRY).schemaVersions()).containsExactly(1, 2, 3);
    assertThat(group.get().orElseThrow().schemaVersions()).containsExactly(1, 2, 3);
    produceOneOfEach();
    List<Order> seen = new CopyOnWriteArrayList<>();
    List<Integer> versions = new CopyOnWriteArrayList<>();
    MessageHandler<Order> handler =
        message -> {
          seen.add(message.payload());
          versions.add(message.schemaVersion());
          return Outcome.done();
        };
    try (Consumption running =
        switch (way) {
          case SINGLE -> group.consume(handler, Consumer.QUICK);
          case BATCH ->
              group.consumeBatches(
                  messages -> {
                    for (Message<Order> message : messages) {
                      handler.handle(message);
                    }
                    return BatchOutcome.done();
                  },
                  Consumer.QUICK);
          case TRANSACTIONAL ->
              group.consumeTransactional(
                  (message, connection) -> handler.handle(message), Consumer.QUICK);
        }) {
      Await.until("all are handled", () -> seen.size() == 3);
    }
    assertThat(seen)
        .containsExactlyInAnyOrder(
            new Order("a", 1, "piece"), new Order("b", 2, "piece"), new Order("c", 3, "box"));
    assertThat(versions).containsExactlyInAnyOrder(1, 2, 3);
  }

  @Test
  void anOlderVersionCanHaveACodecOfItsOwn() {
    PayloadCodec<String> codec =
        new PayloadCodec<>() {
          @Override
          public byte[] encode(String payload) {
            return payload.getBytes(StandardCharsets.UTF_8);
          }

          @Override
          public String decode(byte[] bytes) {
            return new String(bytes, StandardCharsets.UTF_8);
          }
        };
    ConsumerGroup<OrderV2> group =
        handle(OrderV2.class).upgrade(1, codec, text -> new OrderV2(text, 9)).group("codec");
    group.register(QUICK_RETRY);
    handle(OrderV1.class).producer().produce(new OrderV1("a"));
    List<OrderV2> seen = new CopyOnWriteArrayList<>();
    try (Consumption running =
        group.consume(
            message -> {
              seen.add(message.payload());
              return Outcome.done();
            },
            Consumer.QUICK)) {
      Await.until("it is handled", () -> seen.size() == 1);
    }
    assertThat(seen).containsExactly(new OrderV2("{\"id\":\"a\"}", 9));
  }

  @Test
  void b49_anUpcasterThatThrowsIsAsAPayloadThatCanNotBeRead() {
    ConsumerGroup<OrderV2> group =
        handle(OrderV2.class)
            .upgrade(
                1,
                OrderV1.class,
                v1 -> {
                  if (v1.id().equals("null")) {
                    return null;
                  }
                  throw new IllegalStateException("secret " + v1.id());
                })
            .group("g");
    group.register(QUICK_RETRY);
    handle(OrderV1.class).producer().produce(new OrderV1("a"));
    handle(OrderV1.class).producer().produce(new OrderV1("null"));
    long good = handle(OrderV2.class).producer().produce(new OrderV2("b", 2)).id();
    List<Long> seen = new CopyOnWriteArrayList<>();
    try (Consumption running =
        group.consume(
            message -> {
              seen.add(message.id());
              return Outcome.done();
            },
            Consumer.QUICK)) {
      stream.awaitDead(2);
      assertThat(running.counters().undecodable()).isGreaterThanOrEqualTo(2);
    }
    assertThat(seen).containsExactly(good);
    assertThat(stream.rows("SELECT attempts, last_error FROM {queue} ORDER BY message_id"))
        .containsExactly(
            "3|the payload can't be read: java.lang.IllegalStateException",
            "3|the payload can't be read: java.lang.IllegalArgumentException");
  }

  /** Another process may read it, so it is tried again. */
  @Test
  void b49_aVersionThatTheGroupDeclaresButThisProcessCanNotReadIsTriedAgain() {
    upgrading().group("g").register(QUICK_RETRY);
    handle(OrderV1.class).producer().produce(new OrderV1("a"));
    try (Consumption running =
        handle(Order.class).group("g").consume(message -> Outcome.done(), Consumer.QUICK)) {
      stream.awaitDead(1);
    }
    assertThat(stream.rows("SELECT attempts, last_error FROM {queue}"))
        .containsExactly(
            "3|the payload can't be read: it has schema version 1, and this consumer reads version 3");
  }

  /** Never retried in vain, and never lost. */
  @Test
  void b49_aVersionThatTheGroupHasDroppedIsDeadAtOnceAndCanBeRedriven() {
    upgrading().group("g").register(QUICK_RETRY);
    handle(OrderV1.class).producer().produce(new OrderV1("a"));
    ConsumerGroup<Order> dropped = handle(Order.class).group("g");
    try (Consumption running =
        upgrading()
            .group("g")
            .consume(message -> Outcome.delay(Duration.ofMillis(1)), Consumer.QUICK)) {
      Await.until("it waits", () -> stream.number("SELECT count(*) FROM {queue}") == 1);
    }
    long attempts = stream.number("SELECT attempts FROM {queue}");
    assertThat(dropped.register(QUICK_RETRY).schemaVersions()).containsExactly(3);
    try (Consumption running = dropped.consume(message -> Outcome.done(), Consumer.QUICK)) {
      stream.awaitDead(1);
    }
    assertThat(stream.number("SELECT attempts FROM {queue}")).isEqualTo(attempts + 1);
    assertThat(stream.rows("SELECT last_error FROM {queue}"))
        .singleElement()
        .asString()
        .contains("schema version 1", "declared version 1 no more", "redrive");
    assertThat(stream.rows("SELECT status FROM {deliveries} ORDER BY id DESC LIMIT 1"))
        .containsExactly("killed");

    upgrading().group("g").register(QUICK_RETRY);
    List<Order> seen = new CopyOnWriteArrayList<>();
    try (Consumption running =
        upgrading()
            .group("g")
            .consume(
                message -> {
                  seen.add(message.payload());
                  return Outcome.done();
                },
                Consumer.QUICK)) {
      assertThat(dropped.exceptions().redrive(ExceptionFilter.dead(), 10)).isEqualTo(1);
      Await.until("it is handled", () -> seen.size() == 1);
    }
    assertThat(seen).containsExactly(new Order("a", 1, "piece"));
  }

  /** During a rolling deployment: what can be handled is. */
  @Test
  void aProcessThatStillReadsADroppedVersionHandlesItsExceptions() {
    upgrading().group("g").register(QUICK_RETRY);
    handle(OrderV1.class).producer().produce(new OrderV1("a"));
    List<Integer> attempts = new CopyOnWriteArrayList<>();
    try (Consumption running =
        upgrading()
            .group("g")
            .consume(
                message -> {
                  if (attempts.isEmpty()) {
                    handle(Order.class).group("g").register(QUICK_RETRY);
                  }
                  attempts.add(message.attempt());
                  return message.attempt() == 0
                      ? Outcome.delay(Duration.ofMillis(1))
                      : Outcome.done();
                },
                Consumer.QUICK)) {
      Await.until("it is handled", () -> attempts.size() == 2);
      stream.awaitSettled();
      assertThat(running.counters().dead()).isZero();
    }
  }

  @Test
  void anOlderBuildPutsItsVersionsBackAndARawHandleLeavesThemAlone() {
    ConsumerGroup<OrderV2> older = handle(OrderV2.class).group("g");
    ConsumerGroup<Order> newer = upgrading().group("g");
    assertThat(older.register().schemaVersions()).containsExactly(2);
    assertThat(newer.register().schemaVersions()).containsExactly(1, 2, 3);
    assertThat(client.stream(stream.name()).group("g").register().schemaVersions())
        .containsExactly(1, 2, 3);
    assertThat(older.register().schemaVersions()).containsExactly(2);
    assertThat(
            client.stream(stream.name(), RawPayload.class).group("new").register().schemaVersions())
        .isEmpty();
    assertThat(
            stream.rows(
                "SELECT schema_versions, result FROM {trail} WHERE consumer_group_id = "
                    + stream.group().id()
                    + " ORDER BY id"))
        .containsExactly("null|installed", "{2}|installed", "{1,2,3}|installed", "{2}|installed");
  }

  @Test
  void whatCanNotBeUpgradedIsRefused() {
    StreamHandle<OrderV2> two = handle(OrderV2.class);
    refused("version", () -> two.upgrade(0, OrderV1.class, v1 -> new OrderV2("", 0)));
    refused("version", () -> two.upgrade(2, RawPayload.codec(), v1 -> new OrderV2("", 0)));
    refused("version", () -> two.upgrade(3, Order.class, v3 -> new OrderV2("", 0)));
    refused("version", () -> two.upgrade(1, Order.class, v3 -> new OrderV2("", 0)));
    refused(
        "version",
        () ->
            two.upgrade(1, OrderV1.class, v1 -> new OrderV2("", 0))
                .upgrade(1, OrderV1.class, v1 -> new OrderV2("", 0)));
    refused("type", () -> two.upgrade(1, (Class<OrderV1>) null, v1 -> new OrderV2("", 0)));
    refused(
        "codec", () -> two.upgrade(1, (PayloadCodec<RawPayload>) null, v1 -> new OrderV2("", 0)));
    refused("upcaster", () -> two.upgrade(1, OrderV1.class, null));
    refused(
        "version",
        () -> client.stream(stream.name()).upgrade(1, OrderV1.class, v1 -> RawPayload.of("")));
    refused("schemaVersion", () -> handle(NoVersion.class));
  }

  @Test
  void versionsTellWhatIsLeftAndWhatCanBeRetired() {
    ConsumerGroup<Order> group = upgrading().group("new");
    group.register(QUICK_RETRY);
    handle(OrderV2.class).group("old").register(QUICK_RETRY);
    client.stream(stream.name()).group("g").destroy();
    produceOneOfEach();
    produceOneOfEach();
    stream.execute(
        "INSERT INTO {heads} (compaction_key, message_id, schema_version, compaction_rank) VALUES ('k', 2, 2, 1), ('l', NULL, NULL, NULL)");
    assertThat(client.stream(stream.name()).versions())
        .extracting(
            VersionInfo::version, VersionInfo::heads, VersionInfo::headKeys, VersionInfo::canRetire)
        .containsExactly(
            tuple(1, 0L, List.of(), false),
            tuple(2, 1L, List.of("k"), false),
            tuple(3, 0L, List.of(), false));
    assertThat(version(1).groups())
        .containsExactly(
            new VersionRest("new", true, 2, 0, 0, true),
            new VersionRest("old", false, 0, 0, 0, true));
    assertThat(version(2).groups())
        .containsExactly(
            new VersionRest("new", true, 2, 0, 0, true),
            new VersionRest("old", true, 2, 0, 0, true));

    try (Consumption running =
        group.consume(
            message -> message.id() == 1 ? Outcome.dead("no") : Outcome.done(), Consumer.QUICK)) {
      stream.awaitDead(1);
      awaitPassed("new");
      Await.until("no range is open", () -> stream.number("SELECT count(*) FROM {lease}") == 0);
    }
    assertThat(version(1).groups()).contains(new VersionRest("new", true, 0, 0, 1, true));
    assertThat(version(1).canRetire()).as("a dead one could be redriven").isFalse();
    group.exceptions().discard(ExceptionFilter.dead(), 10);
    assertThat(version(1).canRetire()).isTrue();
    assertThat(version(3).canRetire()).isTrue();
    assertThat(version(2).canRetire()).as("one group has it left, and a head").isFalse();
  }

  @Test
  void beyondItsLimitNothingIsSaidToBeExact() {
    stream.produce(GroupSnapshot.COUNT_LIMIT + 1);
    assertThat(version(1).groups())
        .containsExactly(new VersionRest("g", true, GroupSnapshot.COUNT_LIMIT, 0, 0, false));
    assertThat(version(1).canRetire()).isFalse();
  }

  private VersionInfo version(int number) {
    return client.stream(stream.name()).versions().stream()
        .filter(version -> version.version() == number)
        .findFirst()
        .orElseThrow();
  }

  private DeliveryState state(String group, long id) {
    return client.stream(stream.name()).message(id).orElseThrow().deliveries().stream()
        .filter(delivery -> delivery.group().equals(group))
        .findFirst()
        .orElseThrow()
        .state();
  }

  private void awaitPassed(String group) {
    Await.until(
        "the group has passed everything",
        () -> {
          GroupSnapshot now = client.stream(stream.name()).group(group).snapshot();
          return now.claimed() == now.head() && now.lag().open() == 0;
        });
  }

  private static void refused(String field, Runnable what) {
    assertThatThrownBy(what::run)
        .isInstanceOfSatisfying(
            InvalidInputException.class, e -> assertThat(e.field()).isEqualTo(field));
  }
}
