package io.sqlstreams.internal.operation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.ExceptionInfo;
import io.sqlstreams.ExceptionQueue;
import io.sqlstreams.Message;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.ExceptionStatus;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Page;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.internal.claim.Claimant;
import io.sqlstreams.internal.claim.Claims;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The exception queue by hand: looked at, handled again, given up. */
@SqlStreamsTest
class RedriveIT {
  private static final ExceptionFilter ALL = ExceptionFilter.all();

  static final GroupConfig QUICK_RETRY =
      GroupConfig.defaults()
          .withRetry(
              RetryPolicy.defaults()
                  .withMaxRetries(2)
                  .withInitialBackoff(Duration.ofMillis(20))
                  .withBackoff(Duration.ofMillis(20), 1));

  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  ExceptionQueue queue;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    use(TestStream.register(database, StreamConfig.defaults(), QUICK_RETRY));
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void theQueueIsListedPageByPageAndFiltered() {
    handled(20);
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, message_key, concurrency, attempts, delays, can_run_after, last_error, created_at)"
            + " SELECT "
            + stream.group().id()
            + ", i, CASE WHEN i % 2 = 0 THEN 'dead' ELSE 'ready' END, 'k' || i % 3, 'parallel', i, i % 2, '2026-03-01T00:00:00Z',"
            + " CASE WHEN i < 15 THEN 'no 100%_ good ' || i END, '2026-03-01T00:00:00Z'::timestamptz + i * INTERVAL '1 hour'"
            + " FROM generate_series(1, 20) AS i");
    Page page = Page.first(7);
    List<Long> seen = new ArrayList<>();
    for (List<ExceptionInfo> some = queue.list(ALL, page);
        !some.isEmpty();
        some = queue.list(ALL, page)) {
      seen.addAll(ids(some));
      page = page.after(some.get(some.size() - 1).messageId());
    }
    assertThat(seen).isEqualTo(ids(1, 20));
    ExceptionInfo first = queue.list(ALL, Page.first(1)).get(0);
    assertThat(first.updatedAt()).isAfter(first.createdAt());
    Instant at = Instant.parse("2026-03-01T00:00:00Z");
    assertThat(first)
        .isEqualTo(
            new ExceptionInfo(
                1,
                ExceptionStatus.READY,
                "k1",
                1,
                1,
                at,
                "no 100%_ good 1",
                at.plusSeconds(3_600),
                first.updatedAt()));
    assertThat(list(ALL.withStatuses(ExceptionStatus.DEAD, ExceptionStatus.INFLIGHT)))
        .isEqualTo(List.of(2L, 4L, 6L, 8L, 10L, 12L, 14L, 16L, 18L, 20L));
    assertThat(list(ALL.withMessageKey("k0"))).containsExactly(3L, 6L, 9L, 12L, 15L, 18L);
    assertThat(list(ALL.withMessageIds(5, 7))).containsExactly(5L, 6L, 7L);
    assertThat(list(ALL.withErrorContains("%_ good 1")))
        .isEqualTo(List.of(1L, 10L, 11L, 12L, 13L, 14L));
    assertThat(
            list(
                ALL.withCreatedFrom(at.plusSeconds(3 * 3_600))
                    .withCreatedBefore(at.plusSeconds(5 * 3_600))))
        .containsExactly(3L, 4L);
    assertThat(list(ALL.withCreatedFrom(Instant.MIN).withCreatedBefore(Instant.MAX))).hasSize(20);
  }

  @Test
  void aRedrivenMessageIsDueAtOnceWithAFreshBudgetAndItsHistory() {
    handled(3);
    exception(2, "dead", 5, 2);
    stream.execute("UPDATE {queue} SET suspect = true, can_run_after = now() + INTERVAL '1 day'");
    assertThat(queue.redrive(ALL, 10)).isEqualTo(1);
    assertThat(
            stream.rows(
                "SELECT status, attempts, forgiven, delays, suspect, can_run_after <= now(), last_error FROM {queue}"))
        .containsExactly("ready|5|5|0|f|t|e2");
    assertThat(stream.rows("SELECT operation, detail, consumer_group_id FROM {operations}"))
        .containsExactly(
            "redrive|{\"filter\": {}, \"last_id\": 2, \"first_id\": 2, \"messages\": 1}|"
                + stream.group().id());
    assertThat(queue.redrive(ALL, 10)).as("it isn't dead any more").isZero();
    assertThat(stream.number("SELECT count(*) FROM {operations}")).isEqualTo(1);
  }

  @Test
  void whatIsRedrivenIsProtectedAgain() {
    handled(10);
    exception(4, "dead", 3, 0);
    exception(7, "dead", 3, 0);
    stream.execute("UPDATE {cursor} SET committed = claimed");
    assertThat(queue.redrive(ALL.withMessageIds(5, 10), 10)).isEqualTo(1);
    assertThat(stream.rows("SELECT committed, rewinds FROM {cursor}")).containsExactly("6|1");
    assertThat(queue.redrive(ALL, 10)).isEqualTo(1);
    assertThat(stream.rows("SELECT committed, rewinds FROM {cursor}")).containsExactly("3|2");
    stream.execute("DELETE FROM {queue} WHERE message_id = 4");
    claims().advanceCommitted();
    assertThat(stream.number("SELECT committed FROM {cursor}")).isEqualTo(6);
  }

  /** It has looked at the queue before and would pass the message, where it stood below it too. */
  @Test
  void aStaleClaimDoesNotPassWhatIsRedriven() throws Exception {
    handled(10);
    exception(4, "dead", 3, 0);
    stream.produce(5);
    try (NamedTransaction other = pauseOperations()) {
      var redrive = CompletableFuture.supplyAsync(() -> queue.redrive(ALL, 10));
      stream.awaitWaiting("redrive_exceptions");
      var claim = CompletableFuture.supplyAsync(() -> new StepReader(stream).polls(1));
      stream.awaitClaimThatWaits();
      other.commits();
      assertThat(redrive.get()).isEqualTo(1);
      assertThat(claim.get()).isEqualTo(ids(11, 15));
    }
    assertThat(stream.rows("SELECT claimed, committed FROM {cursor}")).containsExactly("15|0");
    claims().advanceCommitted();
    assertThat(stream.number("SELECT committed FROM {cursor}")).isEqualTo(3);
  }

  @Test
  void aStaleAdvanceOfCommittedDoesNotPassWhatIsRedriven() throws Exception {
    handled(10);
    exception(4, "dead", 3, 0);
    try (NamedTransaction other = pauseOperations()) {
      var redrive = CompletableFuture.supplyAsync(() -> queue.redrive(ALL, 10));
      stream.awaitWaiting("redrive_exceptions");
      var advance = CompletableFuture.runAsync(claims()::advanceCommitted);
      stream.awaitWaiting("advance_committed");
      other.commits();
      assertThat(redrive.get()).isEqualTo(1);
      advance.get();
    }
    assertThat(stream.number("SELECT committed FROM {cursor}")).isZero();
  }

  /** The redrive waits for the claim that is ahead of it, and sees how far that one has gone. */
  @Test
  void aRedriveSeesTheClaimThatWasAheadOfIt() throws Exception {
    handled(10);
    exception(4, "dead", 3, 0);
    try (NamedTransaction claim = stream.begin("claim")) {
      claim.runs("UPDATE {cursor} SET committed = 10");
      var redrive = CompletableFuture.supplyAsync(() -> queue.redrive(ALL, 10));
      stream.awaitWaiting("lock_cursor");
      claim.commits();
      assertThat(redrive.get()).isEqualTo(1);
    }
    assertThat(stream.number("SELECT committed FROM {cursor}")).isEqualTo(3);
  }

  @Test
  void b64_inFlightMessagesAreNotTouchedAndEachFailedOneIsQueuedOnce() throws Exception {
    stream.produce(20);
    CountDownLatch begun = new CountDownLatch(10);
    CountDownLatch go = new CountDownLatch(1);
    try (SqlStreams other = TestStream.client(database);
        Consumer consumer =
            Consumer.start(
                client,
                stream,
                message -> {
                  if (message.id() > 10) {
                    return message.attempt() == 0 ? Outcome.dead("no") : Outcome.done();
                  }
                  if (message.attempt() == 0) {
                    throw new IllegalStateException("not yet");
                  }
                  begun.countDown();
                  go.await();
                  return Outcome.done();
                },
                Consumer.QUICK.withHandlers(10))) {
      begun.await();
      Await.until("ten are dead", () -> count("dead") == 10);
      String inFlight =
          "SELECT message_id, status, attempts, lease_token FROM {queue} WHERE message_id <= 10 ORDER BY 1";
      List<String> before = stream.rows(inFlight);
      assertThat(before).hasSize(10).allMatch(row -> row.contains("|inflight|1|"));
      List<CompletableFuture<Long>> calls = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        for (SqlStreams node : List.of(client, other)) {
          ExceptionQueue of = node.stream(stream.name()).group("g").exceptions();
          calls.add(CompletableFuture.supplyAsync(() -> of.redrive(ALL, 100)));
        }
      }
      assertThat(calls.stream().mapToLong(CompletableFuture::join).sum()).isEqualTo(10);
      assertThat(stream.rows(inFlight)).isEqualTo(before);
      go.countDown();
      Await.until("all are done", () -> stream.number("SELECT count(*) FROM {queue}") == 0);
      assertThat(consumer.received()).hasSize(40);
      assertThat(consumer.counters().leaseLost()).isZero();
    }
    ExceptionQueue unknown = client.stream(stream.name()).group("unknown").exceptions();
    assertThatThrownBy(() -> unknown.redrive(ALL, 1))
        .isInstanceOf(GroupNotFoundException.class)
        .hasMessageContainingAll("unknown", stream.name());
    assertThatThrownBy(() -> unknown.discard(ALL, 1)).isInstanceOf(GroupNotFoundException.class);
    assertThatThrownBy(() -> unknown.list(ALL, Page.first(1)))
        .isInstanceOf(GroupNotFoundException.class);
    assertThatThrownBy(() -> client.stream("none").group("g").exceptions().redrive(ALL, 1))
        .isInstanceOf(StreamNotFoundException.class);
  }

  @Test
  void b68_aRedrivenMessageFailsAgainToTheEndWithAllItsAttributesAndItsHistory() {
    ProduceOptions options =
        ProduceOptions.key("order-7")
            .withRoutingKey("eu.placed")
            .withHeader("trace-id", "4bf92f35")
            .withHeader("a", "b");
    long id =
        client.stream(stream.name()).producer().produce(RawPayload.of("{\"n\":1}"), options).id();
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> {
              throw new IllegalStateException("no " + message.attempt());
            })) {
      Await.until("it is dead", () -> count("dead") == 1);
      ExceptionInfo first = queue.list(ALL, Page.first(10)).get(0);
      assertThat(first.attempts()).isEqualTo(3);
      assertThat(queue.redrive(ALL, 10)).isEqualTo(1);
      Await.until("it fails again", () -> consumer.received().size() > 3);
      Await.until("it is dead again", () -> count("dead") == 1);
      ExceptionInfo again = queue.list(ALL, Page.first(10)).get(0);
      assertThat(again.messageId()).isEqualTo(id);
      assertThat(again.messageKey()).isEqualTo("order-7");
      assertThat(again.createdAt()).isEqualTo(first.createdAt());
      assertThat(consumer.received())
          .extracting(Message::attempt)
          .as("three tries, and three more")
          .containsExactly(0, 1, 2, 3, 4, 5);
      assertThat(again.attempts()).isEqualTo(6);
      assertThat(again.lastError()).isEqualTo("java.lang.IllegalStateException: no 5");
      Message<RawPayload> before = consumer.received().get(0);
      for (Message<RawPayload> message : consumer.received()) {
        assertThat(message.id()).isEqualTo(id);
        assertThat(message.key()).isEqualTo("order-7");
        assertThat(message.routingKey()).isEqualTo("eu.placed");
        assertThat(message.headers())
            .isEqualTo(before.headers())
            .containsEntry("trace-id", "4bf92f35");
        assertThat(message.createdAt()).isEqualTo(before.createdAt());
        assertThat(message.payload()).isEqualTo(before.payload());
      }
    }
    assertThat(stream.rows("SELECT attempt, status, error FROM {deliveries} ORDER BY id"))
        .containsExactlyElementsOf(
            LongStream.range(0, 6)
                .mapToObj(i -> i + "|failure|java.lang.IllegalStateException: no " + i)
                .toList());
  }

  @Test
  void b68_aBulkOfTenThousandIsLimitedFilteredAndStopped() {
    handled(10_000);
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after, last_error)"
            + " SELECT "
            + stream.group().id()
            + ", i, 'dead', 'parallel', 3, now(), CASE WHEN i % 2 = 0 THEN 'timed out' ELSE 'refused' END"
            + " FROM generate_series(1, 10000) AS i");
    assertThat(queue.redrive(ALL, 2_500)).as("limited").isEqualTo(2_500);
    assertThat(stream.rows("SELECT count(*), max(message_id) FROM {queue} WHERE status = 'ready'"))
        .containsExactly("2500|2500");
    assertThat(stream.rows("SELECT detail -> 'messages' FROM {operations} ORDER BY id"))
        .as("in bounded transactions")
        .containsExactly("1000", "1000", "500");
    ExceptionFilter timedOut = ALL.withErrorContains("timed out").withMessageIds(1, 6_000);
    assertThat(queue.redrive(timedOut, 100_000)).as("filtered").isEqualTo(1_750);
    assertThat(count("dead")).isEqualTo(5_750);
    assertThat(stream.rows("SELECT detail -> 'filter' FROM {operations} ORDER BY id DESC LIMIT 1"))
        .containsExactly("{\"last_id\": 6000, \"first_id\": 1, \"error_contains\": \"timed out\"}");
    // the two names, then two transactions
    try (SqlStreams stopped =
        SqlStreams.builder(interruptingAt(4)).schema(database.schema()).build()) {
      assertThat(stopped.stream(stream.name()).group("g").exceptions().redrive(ALL, 100_000))
          .as("stopped")
          .isEqualTo(2_000);
      assertThat(Thread.interrupted()).as("the flag is kept").isTrue();
    }
    assertThat(count("dead")).isEqualTo(3_750);
    assertThat(queue.discard(ALL.withStatuses(ExceptionStatus.DEAD), 3_000)).isEqualTo(3_000);
    assertThat(count("dead")).isEqualTo(750);
  }

  @Test
  void whatIsDiscardedIsGoneForGoodButNotWhatIsInFlight() {
    handled(6);
    exception(1, "ready", 1, 0);
    exception(2, "dead", 3, 1);
    exception(3, "deferred", 0, 0);
    exception(4, "ready", 1, 0);
    stream.execute(
        "UPDATE {queue} SET status = 'inflight', lease_token = gen_random_uuid(), lease_expires_at = now() + INTERVAL '1 hour' WHERE message_id = 4");
    exception(5, "superseded", 1, 0);
    stream.execute("UPDATE {queue} SET last_error = NULL WHERE message_id = 3");
    assertThat(queue.discard(ALL, 100)).isEqualTo(3);
    assertThat(stream.rows("SELECT message_id, status FROM {queue} ORDER BY 1"))
        .containsExactly("4|inflight", "5|superseded");
    assertThat(
            stream.rows(
                "SELECT message_id, attempt, status, error FROM {deliveries} ORDER BY message_id"))
        .containsExactly(
            "1|1|superseded|discarded; its last error: e1",
            "2|3|superseded|discarded; its last error: e2",
            "3|0|superseded|discarded; its last error: none");
    assertThat(stream.rows("SELECT operation, detail -> 'messages' FROM {operations}"))
        .containsExactly("discard|3");
    claims().advanceCommitted();
    assertThat(stream.number("SELECT committed FROM {cursor}")).isEqualTo(3);
  }

  @Test
  void aDiscardWithoutADeliveryLogLeavesTheTrailAlone() {
    use(
        TestStream.register(
            database,
            StreamConfig.defaults(),
            GroupConfig.defaults().withDeliveryLog(DeliveryLogMode.OFF)));
    handled(1);
    exception(1, "ready", 1, 0);
    assertThat(queue.discard(ALL, 1)).isEqualTo(1);
    assertThat(stream.number("SELECT count(*) FROM {deliveries}")).isZero();
    assertThat(stream.number("SELECT count(*) FROM {operations}")).isEqualTo(1);
  }

  @Test
  void whatIsBeingClaimedIsPassedOverAndNotWaitedFor() {
    handled(3);
    exception(1, "dead", 3, 0);
    exception(2, "dead", 3, 0);
    try (NamedTransaction other = stream.begin("other")) {
      other.runs("SELECT FROM {queue} WHERE message_id = 1 FOR UPDATE");
      assertThat(queue.redrive(ALL, 100)).isEqualTo(1);
      assertThat(queue.discard(ALL, 100)).isEqualTo(1);
    }
    assertThat(stream.rows("SELECT message_id, status FROM {queue}")).containsExactly("1|dead");
  }

  @Test
  void aFilterThatExcludesEveryMessageOfTheVerbIsRefused() {
    assertThatThrownBy(
            () ->
                queue.redrive(ALL.withStatuses(ExceptionStatus.READY, ExceptionStatus.INFLIGHT), 1))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll("statuses", "[READY, INFLIGHT]", "[DEAD]");
    assertThatThrownBy(() -> queue.discard(ALL.withStatuses(ExceptionStatus.INFLIGHT), 1))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll("statuses", "[INFLIGHT]", "[READY, DEFERRED, DEAD]");
    assertThatThrownBy(() -> queue.redrive(ALL, 0))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll("limit", "0");
  }

  @Test
  void consumersOfThisProcessAreWoken() {
    stream.produce(1);
    try (Consumer consumer =
        Consumer.start(
            client,
            stream,
            message -> message.attempt() == 0 ? Outcome.dead("no") : Outcome.done(),
            Consumer.QUICK.withPollInterval(Duration.ofHours(1)))) {
      Await.until("it is dead", () -> count("dead") == 1);
      queue.redrive(ALL, 1);
      consumer.awaitReceived(2);
      Await.until("it is done", () -> stream.number("SELECT count(*) FROM {queue}") == 0);
    }
  }

  private void use(TestStream stream) {
    this.stream = stream;
    this.queue = client.stream(stream.name()).group("g").exceptions();
  }

  /** This many messages, claimed by the group and done; {@code committed} lags. */
  private void handled(int messages) {
    stream.produce(messages);
    stream.execute("UPDATE {cursor} SET claimed = " + messages);
  }

  private void exception(long id, String status, int attempts, int delays) {
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, delays, can_run_after, last_error) VALUES ("
            + stream.group().id()
            + ", "
            + id
            + ", '"
            + status
            + "', 'parallel', "
            + attempts
            + ", "
            + delays
            + ", now(), 'e"
            + id
            + "')");
  }

  private NamedTransaction pauseOperations() {
    return stream.begin("pause").runs("LOCK TABLE {operations} IN SHARE MODE");
  }

  /** Interrupts the thread that takes a connection for this time. */
  private DataSource interruptingAt(int connections) {
    AtomicInteger taken = new AtomicInteger();
    DataSource source = stream.dataSource();
    return (DataSource)
        Proxy.newProxyInstance(
            DataSource.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              Object result = method.invoke(source, arguments);
              if (method.getName().equals("getConnection")
                  && taken.incrementAndGet() == connections) {
                Thread.currentThread().interrupt();
              }
              return result;
            });
  }

  private Claims claims() {
    return new Claims(
        new Database(stream.dataSource(), database.schema()),
        stream.scope(),
        "g",
        new Claimant(stream.group().id(), UUID.randomUUID(), Duration.ofHours(1)),
        () -> true);
  }

  private long count(String status) {
    return stream.number("SELECT count(*) FROM {queue} WHERE status = '" + status + "'");
  }

  private List<Long> list(ExceptionFilter filter) {
    return ids(queue.list(filter, Page.first(Page.MAX_LIMIT)));
  }

  private static List<Long> ids(List<ExceptionInfo> exceptions) {
    return exceptions.stream().map(ExceptionInfo::messageId).toList();
  }

  private static List<Long> ids(long first, long last) {
    return LongStream.rangeClosed(first, last).boxed().toList();
  }
}
