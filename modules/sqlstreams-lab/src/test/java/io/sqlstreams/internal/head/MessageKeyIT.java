package io.sqlstreams.internal.head;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.HeadChange;
import io.sqlstreams.HeadSweep;
import io.sqlstreams.KeyedMessage;
import io.sqlstreams.MessageKey;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.codec.SchemaVersion;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.error.UnreadableMessageException;
import io.sqlstreams.lab.CounterProcess;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.Plans;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.lab.Worker;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SqlStreamsTest
class MessageKeyIT {
  @SchemaVersion(2)
  record Newer(String name) {}

  TestDatabase database;
  private SqlStreams client;
  private TestStream stream;
  private MessageKey<Integer> counter;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @BeforeEach
  void open() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
    counter = client.stream(stream.name(), Integer.class).key("counter");
  }

  @AfterEach
  void close() {
    client.close();
    threads.shutdownNow();
    assertThat(database.deadlocks()).isEmpty();
  }

  private Producer<Integer> producer() {
    return client.stream(stream.name(), Integer.class).producer();
  }

  private long produce(int value) {
    return producer().produce(value, ProduceOptions.key("counter").withCompaction()).id();
  }

  private static Integer plusOne(Integer value) {
    return value == null ? 1 : value + 1;
  }

  @Test
  void theHeadAndTheLastMessagesAreThoseOfTheKey() {
    assertThat(counter.head()).isEmpty();
    assertThat(counter.messages(5)).isEmpty();
    long first = produce(1);
    long plain = producer().produce(7, ProduceOptions.key("counter")).id();
    producer().produce(8, ProduceOptions.key("another").withCompaction());
    Produced head =
        producer()
            .produce(
                2,
                ProduceOptions.key("counter")
                    .withRoutingKey("r")
                    .withHeader("h", "v")
                    .withCompaction(3));
    long lost = produce(9);
    KeyedMessage<Integer> found = counter.head().orElseThrow();
    assertThat(found.id()).isEqualTo(head.id());
    assertThat(found.payload()).isEqualTo(2);
    assertThat(found.rank()).isEqualTo(3);
    assertThat(found.schemaVersion()).isEqualTo(1);
    assertThat(found.routingKey()).isEqualTo("r");
    assertThat(found.headers()).isEqualTo(Map.of("h", "v"));
    assertThat(found.isTombstone()).isFalse();
    assertThat(counter.messages(3))
        .extracting(KeyedMessage::id)
        .containsExactly(lost, head.id(), plain);
    assertThat(counter.messages(3).get(2).rank()).isNull();
    assertThat(counter.messages(MessageKey.MAX_MESSAGES))
        .hasSize(4)
        .last()
        .returns(first, KeyedMessage::id);
  }

  @Test
  void whatIsWrongIsRefusedBeforeAnySql() {
    for (int most : new int[] {0, -1, MessageKey.MAX_MESSAGES + 1}) {
      assertThatThrownBy(() -> counter.messages(most))
          .asInstanceOf(type(InvalidInputException.class))
          .satisfies(e -> assertThat(e.field()).isEqualTo("most"));
    }
    assertThatThrownBy(() -> client.stream(stream.name()).key(null).head())
        .asInstanceOf(type(InvalidInputException.class))
        .satisfies(e -> assertThat(e.field()).isEqualTo("messageKey"));
    assertThatThrownBy(() -> client.stream("nothing").key("k").head())
        .isInstanceOf(StreamNotFoundException.class);
    assertThatThrownBy(() -> client.stream("nothing").sweepHeads())
        .isInstanceOf(StreamNotFoundException.class);
  }

  @Test
  void aLockOutsideATransactionIsRefused() throws SQLException {
    try (Connection connection = stream.unpooled()) {
      assertThatThrownBy(() -> counter.lockHead(connection))
          .asInstanceOf(type(InvalidInputException.class))
          .satisfies(e -> assertThat(e.field()).isEqualTo("connection"));
      assertThatThrownBy(() -> counter.update(connection, MessageKeyIT::plusOne))
          .isInstanceOf(InvalidInputException.class);
    }
    assertThat(stream.number("SELECT count(*) FROM {heads}")).isZero();
  }

  @Test
  void aCallerThatHoldsThePoolsOnlyConnectionIsServed() {
    produce(1);
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 1);
        SqlStreams small = SqlStreams.builder(pool).schema(database.schema()).build()) {
      MessageKey<Integer> key = small.stream(stream.name(), Integer.class).key("counter");
      small.inTransaction(
          connection -> {
            assertThat(key.lockHead(connection)).isPresent();
            return key.update(connection, MessageKeyIT::plusOne);
          });
      assertThat(key.update(MessageKeyIT::plusOne)).isPresent();
    }
    assertThat(counter.head().orElseThrow().payload()).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aLockedKeyIsWaitedForAlsoWhenItHasNoHead(boolean hasHead) throws Exception {
    Optional<Integer> before = hasHead ? Optional.of(1) : Optional.empty();
    before.ifPresent(this::produce);
    try (NamedTransaction holder = stream.begin("holder")) {
      assertThat(counter.lockHead(holder.connection()).map(KeyedMessage::payload))
          .isEqualTo(before);
      Future<Long> produced = threads.submit(() -> produce(5));
      stream.awaitWaiting("produce_compacted");
      holder.commits();
      produced.get(30, SECONDS);
    }
    assertThat(counter.head().orElseThrow().payload()).isEqualTo(5);
  }

  @Test
  void aLockThatHadToWaitSeesWhatWasCommittedMeanwhile() throws Exception {
    produce(1);
    try (NamedTransaction writer = stream.begin("writer");
        Connection locker = stream.unpooled()) {
      locker.setAutoCommit(false);
      producer().in(writer.connection()).produce(2, ProduceOptions.key("counter").withCompaction());
      Future<Optional<KeyedMessage<Integer>>> locked =
          threads.submit(() -> counter.lockHead(locker));
      stream.awaitWaiting("lock_compaction_head");
      writer.commits();
      assertThat(locked.get(30, SECONDS).orElseThrow().payload()).isEqualTo(2);
      locker.rollback();
    }
  }

  @Test
  void theFirstLockOfAKeyThatAnotherIsJustWritingSeesIt() throws Exception {
    try (NamedTransaction writer = stream.begin("writer");
        Connection locker = stream.unpooled()) {
      locker.setAutoCommit(false);
      producer().in(writer.connection()).produce(2, ProduceOptions.key("counter").withCompaction());
      Future<Optional<KeyedMessage<Integer>>> locked =
          threads.submit(() -> counter.lockHead(locker));
      stream.awaitWaiting("lock_compaction_head");
      writer.commits();
      assertThat(locked.get(30, SECONDS).orElseThrow().payload()).isEqualTo(2);
      locker.rollback();
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void atRepeatableReadALockGivesTheValueOrASerializationFailure(boolean hasHead)
      throws SQLException {
    if (hasHead) {
      produce(1);
    }
    try (Connection connection = stream.unpooled()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      assertThat(counter.lockHead(connection).map(KeyedMessage::payload))
          .isEqualTo(hasHead ? Optional.of(1) : Optional.empty());
      connection.commit();
      try (Statement statement = connection.createStatement()) {
        statement.execute("SELECT 1");
        statement.execute(stream.sql("SELECT count(*) FROM {log}"));
      }
      produce(2);
      assertThatThrownBy(() -> counter.lockHead(connection))
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(e -> assertThat(e.sqlState()).isEqualTo("40001"));
      connection.rollback();
    }
  }

  @Test
  void updatesSeeEachOtherAndWinWhateverTheRank() throws Exception {
    assertThat(counter.update(MessageKeyIT::plusOne)).isPresent();
    producer().produce(10, ProduceOptions.key("counter").withCompaction(77));
    Produced second = counter.update(MessageKeyIT::plusOne).orElseThrow();
    assertThat(counter.head().orElseThrow())
        .returns(second.id(), KeyedMessage::id)
        .returns(11, KeyedMessage::payload)
        .returns(77L, KeyedMessage::rank);
    assertThat(counter.update(value -> null)).as("no change").isEmpty();
    assertThat(counter.head().orElseThrow().id()).isEqualTo(second.id());

    assertThatThrownBy(
            () ->
                counter.update(
                    value -> {
                      throw new IllegalStateException("no");
                    }))
        .hasMessage("no");
    assertThat(counter.messages(1).get(0).id()).isEqualTo(second.id());

    try (NamedTransaction first = stream.begin("first")) {
      counter.update(first.connection(), MessageKeyIT::plusOne);
      Future<Optional<Produced>> waiting =
          threads.submit(() -> counter.update(MessageKeyIT::plusOne));
      stream.awaitWaiting("lock_compaction_head");
      first.commits();
      waiting.get(30, SECONDS);
    }
    assertThat(counter.head().orElseThrow().payload()).isEqualTo(13);
    try (NamedTransaction undone = stream.begin("undone")) {
      counter.update(undone.connection(), MessageKeyIT::plusOne);
      undone.rollsBack();
    }
    assertThat(counter.head().orElseThrow().payload()).isEqualTo(13);
  }

  @Test
  void aChangeCanDeleteAndTakesOptions() {
    counter.change(
        head -> {
          assertThat(head).isEmpty();
          return HeadChange.to(
              1,
              ProduceOptions.key("ignored")
                  .withRoutingKey("r")
                  .withHeader("h", "v")
                  .withCompaction(9));
        });
    assertThat(counter.head().orElseThrow())
        .returns(9L, KeyedMessage::rank)
        .returns("r", KeyedMessage::routingKey);
    counter.change(head -> HeadChange.to(2, ProduceOptions.defaults().withCompaction(4)));
    assertThat(counter.head().orElseThrow())
        .returns(2, KeyedMessage::payload)
        .returns(9L, KeyedMessage::rank);
    assertThat(counter.change(head -> HeadChange.none())).isEmpty();
    counter.change(head -> HeadChange.tombstone());
    assertThat(counter.head().orElseThrow().isTombstone()).isTrue();
    counter.change(
        head -> {
          assertThat(head.orElseThrow().isTombstone()).isTrue();
          return HeadChange.none();
        });
    counter.update(MessageKeyIT::plusOne);
    assertThat(counter.head().orElseThrow().payload()).isEqualTo(1);
  }

  @Test
  void aHandleOfAnotherVersionNeitherReadsNorReplacesWhatItCannot() {
    MessageKey<Newer> newer = client.stream(stream.name(), Newer.class).key("counter");
    produce(1);
    assertThatThrownBy(newer::head)
        .asInstanceOf(type(UnreadableMessageException.class))
        .satisfies(e -> assertThat(e.stream()).isEqualTo(stream.name()));
    long id =
        client.stream(stream.name(), Newer.class)
            .producer()
            .produce(new Newer("n"), ProduceOptions.key("counter").withCompaction())
            .id();
    assertThat(newer.head().orElseThrow().payload()).isEqualTo(new Newer("n"));
    assertThatThrownBy(() -> counter.update(MessageKeyIT::plusOne))
        .asInstanceOf(type(UnreadableMessageException.class))
        .satisfies(e -> assertThat(e.messageId()).isEqualTo(id));
    newer.change(head -> HeadChange.tombstone());
    assertThatThrownBy(() -> counter.update(MessageKeyIT::plusOne))
        .as("it would lose")
        .isInstanceOf(UnreadableMessageException.class);
    MessageKey<RawPayload> raw = client.stream(stream.name()).key("counter");
    raw.update(value -> RawPayload.of("{\"name\":\"raw\"}"));
    assertThat(newer.head().orElseThrow().payload()).isEqualTo(new Newer("raw"));
  }

  /** The documentation once said that a head of any other version can't be read. */
  @Test
  void aHandleThatUpgradesReadsAndReplacesHeadsOfOlderVersions() {
    produce(1);
    MessageKey<Newer> upgrading =
        client.stream(stream.name(), Newer.class)
            .upgrade(1, Integer.class, older -> new Newer("was " + older))
            .key("counter");
    assertThat(upgrading.head().orElseThrow())
        .satisfies(head -> assertThat(head.payload()).isEqualTo(new Newer("was 1")))
        .satisfies(head -> assertThat(head.schemaVersion()).isEqualTo(1));
    upgrading.update(now -> now == null ? null : new Newer(now.name() + ", now newer"));
    assertThat(upgrading.head().orElseThrow())
        .satisfies(head -> assertThat(head.payload()).isEqualTo(new Newer("was 1, now newer")))
        .satisfies(head -> assertThat(head.schemaVersion()).isEqualTo(2));
    assertThat(upgrading.messages(2))
        .extracting(KeyedMessage::payload)
        .containsExactly(new Newer("was 1, now newer"), new Newer("was 1"));
  }

  @Test
  void aHeadWhoseMessageWasDroppedIsNoneButStillHoldsItsRank() {
    stream =
        TestStream.register(
            database, StreamConfig.defaults().withPartitionSize(100), GroupConfig.defaults());
    counter = client.stream(stream.name(), Integer.class).key("counter");
    producer().produce(5, ProduceOptions.key("counter").withCompaction(3));
    stream.produce(150);
    stream.dropPartition(0);
    assertThat(counter.head()).isEmpty();
    counter.update(MessageKeyIT::plusOne);
    assertThat(counter.head().orElseThrow())
        .returns(1, KeyedMessage::payload)
        .returns(3L, KeyedMessage::rank);
  }

  @Test
  void headsOfDeletedKeysAndEmptyLocksGoWhenTheirTimeIsOver() throws SQLException {
    produce(1);
    producer().produceTombstone("old");
    producer().produceTombstone("young");
    producer().produceTombstone("locked");
    try (NamedTransaction empty = stream.begin("empty")) {
      client.stream(stream.name()).key("empty").lockHead(empty.connection());
      client.stream(stream.name()).key("fresh").lockHead(empty.connection());
      empty.commits();
    }
    assertThat(client.stream(stream.name()).sweepHeads()).isEqualTo(new HeadSweep(0, 0));
    stream.execute(
        "UPDATE {heads} SET updated_at = now() - INTERVAL '25 hours'"
            + " WHERE compaction_key IN ('counter', 'old', 'locked', 'empty')");
    try (NamedTransaction holder = stream.begin("holder")) {
      assertThat(
              client.stream(stream.name())
                  .key("locked")
                  .lockHead(holder.connection())
                  .orElseThrow()
                  .isTombstone())
          .isTrue();
      assertThat(client.stream(stream.name()).sweepHeads()).isEqualTo(new HeadSweep(1, 1));
      holder.commits();
    }
    assertThat(stream.rows("SELECT compaction_key FROM {heads} ORDER BY 1"))
        .containsExactly("counter", "fresh", "locked", "young");
    assertThat(client.stream(stream.name()).key("old").head()).isEmpty();
    assertThat(client.stream(stream.name()).key("old").messages(5)).as("its log stays").hasSize(1);
    assertThat(counter.head().orElseThrow().payload()).isEqualTo(1);
    assertThat(client.stream(stream.name()).sweepHeads()).isEqualTo(new HeadSweep(1, 0));
    // as if it had never been used
    producer().produce(3, ProduceOptions.key("old").withCompaction(-5));
    assertThat(
            client.stream(stream.name(), Integer.class).key("old").head().orElseThrow().payload())
        .isEqualTo(3);
  }

  @Test
  void theTimesAreSettingsOfTheStreamAndManyHeadsGoInSeveralTransactions() {
    client.stream(stream.name())
        .register(
            StreamConfig.defaults()
                .withTombstoneTtl(Duration.ofMillis(1))
                .withEmptyHeadTtl(Duration.ofDays(2)));
    assertThat(client.stream(stream.name()).get().orElseThrow().config().emptyHeadTtl())
        .isEqualTo(Duration.ofDays(2));
    stream.execute(
        "INSERT INTO {heads} (compaction_key, message_id, schema_version, compaction_rank, tombstone, updated_at)"
            + " SELECT 'k' || i, i, 1, 0, true, now() - INTERVAL '1 minute' FROM generate_series(1, 2500) AS i");
    stream.execute(
        "INSERT INTO {heads} (compaction_key, updated_at) VALUES ('empty', now() - INTERVAL '1 day')");
    assertThat(client.stream(stream.name()).sweepHeads()).isEqualTo(new HeadSweep(2_500, 0));
  }

  @Test
  void aTombstoneThatIsReplacedDuringASweepStays() throws Exception {
    producer().produceTombstone("counter");
    stream.execute("UPDATE {heads} SET updated_at = now() - INTERVAL '2 days'");
    try (NamedTransaction writer = stream.begin("writer")) {
      producer().in(writer.connection()).produce(4, ProduceOptions.key("counter").withCompaction());
      assertThat(client.stream(stream.name()).sweepHeads()).isEqualTo(new HeadSweep(0, 0));
      writer.commits();
    }
    assertThat(client.stream(stream.name()).sweepHeads()).isEqualTo(new HeadSweep(0, 0));
    assertThat(counter.head().orElseThrow().payload()).isEqualTo(4);

    producer().produceTombstone("counter");
    stream.execute("UPDATE {heads} SET updated_at = now() - INTERVAL '2 days'");
    try (NamedTransaction sweep = stream.begin("sweep")) {
      sweep.runs("DELETE FROM {heads}");
      Future<Long> produced = threads.submit(() -> produce(6));
      stream.awaitWaiting("produce_compacted");
      sweep.commits();
      produced.get(30, SECONDS);
    }
    assertThat(counter.head().orElseThrow().payload()).isEqualTo(6);
  }

  @Test
  void theLastMessagesOfAKeyAreFoundThroughItsIndex() throws SQLException {
    stream =
        TestStream.register(
            database, StreamConfig.defaults().withPartitionSize(20_000), GroupConfig.defaults());
    stream.addPartitions(10);
    try (Connection connection = stream.unpooled();
        Statement statement = connection.createStatement()) {
      statement.execute("SET plan_cache_mode = force_generic_plan");
      statement.execute("SET enable_seqscan = off");
      Map<String, String> values = Map.of("key", "'k7'", "most", "20::INT");
      Plans.prepare(stream, statement, "kept", HeadSql.MESSAGES);
      Plans.explain(stream, statement, "kept", HeadSql.MESSAGES, values);
      stream.execute(
          "INSERT INTO {log} (schema_version, message_key, payload)"
              + " SELECT 1, 'k' || i % 10, '{}' FROM generate_series(1, 190000) AS i");
      String plan = Plans.explain(stream, statement, "kept", HeadSql.MESSAGES, values);
      assertThat(plan).doesNotContain("Seq Scan").doesNotContain("Sort Key");
      assertThat(Plans.buffers(plan)).as(plan).isLessThan(60);
    }
  }

  @Test
  void eightProcessesThatAddOneAThousandTimesEachEndAtEightThousand() {
    List<Worker> processes = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      processes.add(
          Worker.launch(
              CounterProcess.class,
              List.of(database.jdbcUrl(), database.schema(), stream.name(), "counter", "1000")));
    }
    try {
      for (Worker process : processes) {
        assertThat(process.lastWords()).isEqualTo("done");
      }
      assertThat(counter.head().orElseThrow().payload()).isEqualTo(8_000);
      assertThat(stream.number("SELECT count(*) FROM {log}")).isEqualTo(8_000);
    } finally {
      processes.forEach(Worker::close);
    }
  }
}
