package io.sqlstreams.internal.inspect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.DeliveryAttempt;
import io.sqlstreams.DeliveryEvent;
import io.sqlstreams.DeliveryState;
import io.sqlstreams.GroupDelivery;
import io.sqlstreams.MessageInfo;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A message as it is stored, and each state and history that it can have in a group. */
@SqlStreamsTest
class LookupIT {
  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults()
                .withRetry(
                    RetryPolicy.defaults()
                        .withMaxRetries(1)
                        .withInitialBackoff(Duration.ofMillis(20))));
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aMessageIsShownAsItIsStored() {
    RetryPolicy retry = RetryPolicy.defaults().withMaxRetries(7);
    long id =
        handle()
            .producer()
            .produce(
                RawPayload.of("{\"total\": 1.10}"),
                ProduceOptions.key("o-1")
                    .withRoutingKey("orders.eu")
                    .withHeader("trace", "a b")
                    .withTimeout(Duration.ofSeconds(3))
                    .withRetry(retry))
            .id();
    MessageInfo message = find(id);
    assertThat(message.id()).isEqualTo(id);
    assertThat(message.schemaVersion()).isEqualTo(1);
    assertThat(message.key()).isEqualTo("o-1");
    assertThat(message.routingKey()).isEqualTo("orders.eu");
    assertThat(message.headers()).isEqualTo(Map.of("trace", "a b"));
    assertThat(message.payload()).isEqualTo(RawPayload.of("{\"total\": 1.10}"));
    assertThat(message.timeout()).isEqualTo(Duration.ofSeconds(3));
    assertThat(message.retry()).isEqualTo(retry);
    assertThat(message.createdAt()).isBetween(now().minusSeconds(60), now());
    assertThat(message).hasToString("MessageInfo[id=" + id + "]");
  }

  @Test
  void whatIsNotThereIsNullOrEmpty() {
    stream.execute("INSERT INTO {log} (schema_version) VALUES (1)");
    MessageInfo message = find(1);
    assertThat(message.payload()).isNull();
    assertThat(message.key()).isNull();
    assertThat(message.routingKey()).isNull();
    assertThat(message.headers()).isEmpty();
    assertThat(message.timeout()).isNull();
    assertThat(message.retry()).isNull();
  }

  @Test
  void whatWasWrittenByHandAndCanNotBeReadDoesNotHideTheRest() {
    stream.execute(
        "INSERT INTO {log} (schema_version, payload, headers, options) VALUES"
            + " (1, '{}', '{\"a\": {\"b\": 1}}', '[]'), (1, '{}', '{\"a\": null}', '{\"retry\": {\"max_retries\": -1}}')");
    for (long id = 1; id <= 2; id++) {
      assertThat(find(id).payload()).isEqualTo(RawPayload.of("{}"));
      assertThat(find(id).headers()).isEmpty();
      assertThat(find(id).retry()).isNull();
    }
  }

  @Test
  void whatTheLogDoesNotHoldIsEmpty() {
    stream.produce(2);
    try (NamedTransaction open = stream.begin("open")) {
      long drawn = open.inserts();
      stream.produce(1);
      assertThat(handle().message(drawn)).as("not committed").isEmpty();
      open.rollsBack();
      assertThat(handle().message(drawn)).as("rolled back").isEmpty();
    }
    assertThat(handle().message(4)).isPresent();
    assertThat(handle().message(5)).as("not produced").isEmpty();
    assertThat(handle().message(Long.MAX_VALUE)).isEmpty();
    stream.execute("DROP TABLE {log}_0");
    assertThat(handle().message(1)).as("dropped").isEmpty();
  }

  @Test
  void namesAndIdsThatCanNotBeAreRefused() {
    assertThatThrownBy(() -> handle().message(0))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("id");
    assertThatThrownBy(() -> handle().message(Long.MIN_VALUE))
        .isInstanceOf(InvalidInputException.class);
    assertThatThrownBy(() -> client.stream("none").message(1))
        .isInstanceOf(StreamNotFoundException.class);
  }

  @Test
  void aMessageWaitsThenIsClaimedThenPassed() {
    stream.produce(3);
    assertThat(delivery(2))
        .isEqualTo(new GroupDelivery("g", DeliveryState.WAITING, 0, 0, null, null, List.of()));
    assertThat(new StepReader(stream).poll()).hasSize(3);
    stream.produce(1);
    assertThat(states(1, 2, 3, 4))
        .containsExactly(
            DeliveryState.CLAIMED,
            DeliveryState.CLAIMED,
            DeliveryState.CLAIMED,
            DeliveryState.WAITING);
    // its session reports that the first is done
    stream.execute("UPDATE {lease} SET low = 1");
    assertThat(states(1, 2)).containsExactly(DeliveryState.PASSED, DeliveryState.CLAIMED);
    stream.execute("DELETE FROM {lease}");
    assertThat(delivery(2))
        .isEqualTo(new GroupDelivery("g", DeliveryState.PASSED, 0, 0, null, null, List.of()));
  }

  @Test
  void everyStateOfTheExceptionQueueIsToldAsItIs() {
    stream.produce(5);
    stream.execute("UPDATE {cursor} SET claimed = 5");
    queue(1, "ready", 2, 1, "'no'");
    queue(2, "inflight", 1, 0, "'no'");
    queue(3, "deferred", 0, 0, "NULL");
    queue(4, "dead", 4, 0, "'given up'");
    queue(5, "superseded", 1, 0, "NULL");
    Instant canRunAfter = Instant.parse("2026-01-02T03:04:05.123456Z");
    assertThat(List.of(delivery(1), delivery(2), delivery(3), delivery(4), delivery(5)))
        .containsExactly(
            new GroupDelivery("g", DeliveryState.READY, 2, 1, "no", canRunAfter, List.of()),
            new GroupDelivery("g", DeliveryState.INFLIGHT, 1, 0, "no", null, List.of()),
            new GroupDelivery("g", DeliveryState.DEFERRED, 0, 0, null, null, List.of()),
            new GroupDelivery("g", DeliveryState.DEAD, 4, 0, "given up", null, List.of()),
            new GroupDelivery("g", DeliveryState.SUPERSEDED, 1, 0, null, null, List.of()));
  }

  @Test
  void aMessageAboveTheCursorOfARewoundGroupWaitsWhateverRowsThereAre() {
    stream.produce(3);
    new StepReader(stream).poll();
    queue(2, "dead", 4, 0, "'given up'");
    log(2, 0, "failure", "'no'");
    stream.execute("UPDATE {cursor} SET claimed = 1, committed = 0");
    GroupDelivery rewound = delivery(2);
    assertThat(rewound.state()).isEqualTo(DeliveryState.WAITING);
    assertThat(rewound.attempts()).isZero();
    assertThat(rewound.lastError()).isNull();
    assertThat(rewound.history()).as("what was before").hasSize(1);
    // claimed once more
    stream.execute("UPDATE {cursor} SET claimed = 3");
    assertThat(delivery(2).state()).isEqualTo(DeliveryState.CLAIMED);
  }

  @Test
  void theHistoryIsWhatHappenedInItsOrder() {
    List<Long> ids = stream.produce(3);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              if (message.id() == ids.get(0)) {
                return Outcome.done();
              }
              if (message.id() == ids.get(1)) {
                return Outcome.dead("not ours");
              }
              if (message.attempt() == 0) {
                return Outcome.delay(Duration.ofMillis(10));
              }
              throw new IllegalStateException("attempt " + message.attempt());
            })) {
      Await.until("both are dead", () -> snapshotOfDead() == 2);
      Await.until("all is recorded", () -> stream.number("SELECT count(*) FROM {lease}") == 0);
      assertThat(consumer.ids()).contains(ids.get(0));
    }
    assertThat(delivery(ids.get(0)).state()).isEqualTo(DeliveryState.PASSED);
    GroupDelivery killed = delivery(ids.get(1));
    assertThat(killed.state()).isEqualTo(DeliveryState.DEAD);
    assertThat(killed.lastError()).isEqualTo("not ours");
    assertThat(killed.history()).hasSize(1);
    assertThat(killed.history().get(0).event()).isEqualTo(DeliveryEvent.KILLED);
    GroupDelivery failed = delivery(ids.get(2));
    assertThat(failed.state()).isEqualTo(DeliveryState.DEAD);
    assertThat(failed.attempts()).isEqualTo(3);
    assertThat(failed.delays()).isEqualTo(1);
    assertThat(failed.history())
        .extracting(a -> a.attempt() + " " + a.event() + " " + a.error())
        .containsExactly(
            "0 DELAYED null",
            "1 FAILURE java.lang.IllegalStateException: attempt 1",
            "2 FAILURE java.lang.IllegalStateException: attempt 2");
    assertThat(failed.history()).extracting(DeliveryAttempt::at).isSorted();
  }

  @Test
  void everyWordOfTheDeliveryLogIsKnown() {
    stream.produce(1);
    int attempt = 0;
    for (DeliveryEvent event : DeliveryEvent.values()) {
      log(1, attempt++, event.name().toLowerCase(Locale.ROOT), "NULL");
    }
    assertThat(delivery(1).history())
        .extracting(DeliveryAttempt::event)
        .containsExactly(DeliveryEvent.values());
  }

  @Test
  void eachGroupHasItsOwnStateAndHistory() {
    stream.produce(2);
    handle().group("Other").register();
    handle().group("a").register();
    TestStream elsewhere = TestStream.register(database);
    elsewhere.produce(1);
    new StepReader(stream).poll();
    stream.execute("DELETE FROM {lease}");
    log(1, 0, "failure", "'first'");
    log(1, 1, "success", "NULL");
    log(2, 0, "failure", "'of another message'");
    stream.execute(
        "INSERT INTO {deliveries} (consumer_group_id, message_id, attempt, status) VALUES ("
            + handle().group("a").get().orElseThrow().id()
            + ", 1, 0, 'expired')");
    List<GroupDelivery> deliveries = find(1).deliveries();
    assertThat(deliveries)
        .extracting(d -> d.group() + " " + d.state() + " " + d.history().size())
        .containsExactly("Other WAITING 0", "a WAITING 1", "g PASSED 2");
    assertThat(deliveries.get(2).history())
        .extracting(DeliveryAttempt::event)
        .containsExactly(DeliveryEvent.FAILURE, DeliveryEvent.SUCCESS);
    handle().group("a").destroy();
    handle().group("g").destroy();
    handle().group("Other").destroy();
    assertThat(find(1).deliveries()).isEmpty();
  }

  @Test
  void ofALongHistoryTheLastEntriesAreGiven() {
    stream.produce(1);
    stream.execute(
        "INSERT INTO {deliveries} (consumer_group_id, message_id, attempt, status, attempted_at) SELECT "
            + stream.group().id()
            + ", 1, i, 'delayed', now() + i * INTERVAL '1 second' FROM generate_series(0, 2499) AS i");
    List<DeliveryAttempt> history = delivery(1).history();
    assertThat(history).hasSize(GroupDelivery.MAX_HISTORY);
    assertThat(history.get(0).attempt()).isEqualTo(1_500);
    assertThat(history.get(999).attempt()).isEqualTo(2_499);
  }

  private StreamHandle<RawPayload> handle() {
    return client.stream(stream.name());
  }

  private MessageInfo find(long id) {
    return handle().message(id).orElseThrow();
  }

  private GroupDelivery delivery(long id) {
    List<GroupDelivery> deliveries = find(id).deliveries();
    assertThat(deliveries).hasSize(1);
    return deliveries.get(0);
  }

  private List<DeliveryState> states(long... ids) {
    return Arrays.stream(ids).mapToObj(id -> delivery(id).state()).toList();
  }

  private int snapshotOfDead() {
    return handle().group("g").snapshot().exceptions().dead();
  }

  private Instant now() {
    return Instant.ofEpochMilli(
        stream.number("SELECT (extract(epoch FROM clock_timestamp()) * 1000)::BIGINT + 1"));
  }

  private void log(long id, int attempt, String status, String error) {
    stream.execute(
        "INSERT INTO {deliveries} (consumer_group_id, message_id, attempt, status, error) VALUES ("
            + stream.group().id()
            + ", "
            + id
            + ", "
            + attempt
            + ", '"
            + status
            + "', "
            + error
            + ")");
  }

  private void queue(long id, String status, int attempts, int delays, String error) {
    String lease = status.equals("inflight") ? "gen_random_uuid(), now()" : "NULL, NULL";
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, delays, last_error,"
            + " can_run_after, lease_token, lease_expires_at) VALUES ("
            + stream.group().id()
            + ", "
            + id
            + ", '"
            + status
            + "', 'parallel', "
            + attempts
            + ", "
            + delays
            + ", "
            + error
            + ", '2026-01-02 03:04:05.123456+00', "
            + lease
            + ")");
  }
}
