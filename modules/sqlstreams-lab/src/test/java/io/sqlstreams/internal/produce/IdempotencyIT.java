package io.sqlstreams.internal.produce;

import static io.sqlstreams.internal.produce.ProduceLab.execute;
import static io.sqlstreams.internal.produce.ProduceLab.json;
import static io.sqlstreams.internal.produce.ProduceLab.numbered;
import static io.sqlstreams.internal.produce.ProduceLab.value;
import static io.sqlstreams.internal.produce.ProduceLab.withKey;
import static io.sqlstreams.internal.produce.ProduceLab.withKeys;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

@SqlStreamsTest
class IdempotencyIT {
  private static final int FEW = 5;
  private static final int MANY = LogWriter.COPY_MESSAGES;

  TestDatabase database;
  private ProduceLab lab;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @BeforeEach
  void open() {
    lab = new ProduceLab(database, TestPool.shared(database));
  }

  @AfterEach
  void close() {
    lab.close();
    threads.shutdownNow();
    assertThat(database.deadlocks()).isEmpty();
  }

  private String keys(StreamInfo stream) {
    return database.schema() + ".idempotency_key_" + stream.id();
  }

  private List<String> storedKeys(StreamInfo stream) {
    return lab.query(
        "SELECT idempotency_key FROM " + keys(stream) + " ORDER BY created_at",
        row -> row.getString(1));
  }

  private Produced produce(StreamInfo stream, String key, String payload) {
    Outgoing<RawPayload> message = withKey(key, payload);
    return lab.producer(stream).produce(message.payload(), message.options());
  }

  private Connection begin(int isolation) throws SQLException {
    Connection connection = lab.connect();
    connection.setAutoCommit(false);
    connection.setTransactionIsolation(isolation);
    return connection;
  }

  private Connection begin() throws SQLException {
    return begin(Connection.TRANSACTION_READ_COMMITTED);
  }

  private void awaitWaiting(String statement) {
    Await.until(
        statement + " waits",
        () ->
            lab.number(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%"
                        + statement
                        + "%' AND application_name = '"
                        + database.schema()
                        + "'")
                > 0);
  }

  private static String statement(int count) {
    return count < MANY ? "produce_keyed" : "reserve_keyed_message_ids";
  }

  private static List<Boolean> duplicates(List<Produced> produced) {
    return produced.stream().map(Produced::duplicate).toList();
  }

  private static List<Long> ids(List<Produced> produced) {
    return produced.stream().map(Produced::id).toList();
  }

  @Test
  void aRepeatGetsTheOriginalsReceipt() {
    StreamInfo stream = lab.register();
    Produced first = produce(stream, "k", "1");
    assertThat(first).isEqualTo(new Produced(first.id(), false, true));
    assertThat(produce(stream, "k", "1")).isEqualTo(new Produced(first.id(), true, true));
    assertThat(produce(stream, "k", "2")).isEqualTo(new Produced(first.id(), true, false));
    Produced other = produce(stream, "", "1");
    assertThat(other.duplicate()).isFalse();
    assertThat(lab.producer(stream).produce(json("3")).duplicate()).isFalse();
    assertThat(lab.payloads(stream)).containsExactly("1", "1", "3");
    StreamInfo another = lab.register();
    assertThat(produce(another, "k", "1").duplicate()).as("keys are a stream's").isFalse();
  }

  @ParameterizedTest
  @ValueSource(ints = {FEW, MANY, 3_000})
  void idsRiseInTheListsOrderAndNoneIsWasted(int count) {
    StreamInfo stream = lab.register();
    List<Produced> all = lab.producer(stream).produceAll(withKeys("a", count));
    assertThat(ids(all))
        .isEqualTo(IntStream.rangeClosed(1, count).mapToObj(Long::valueOf).toList());
    assertThat(lab.payloads(stream))
        .isEqualTo(IntStream.range(0, count).mapToObj(Integer::toString).toList());
    List<Produced> again = lab.producer(stream).produceAll(withKeys("a", count));
    assertThat(ids(again)).isEqualTo(ids(all));
    assertThat(duplicates(again)).containsOnly(true);
    assertThat(lab.producer(stream).produce(json("0")).id())
        .as("known keys draw no id")
        .isEqualTo(count + 1L);
  }

  @ParameterizedTest
  @ValueSource(ints = {12, 3 * MANY})
  void newAndUsedKeysAndNoneMixInOneBatch(int count) {
    StreamInfo stream = lab.register();
    List<Produced> used = lab.producer(stream).produceAll(withKeys("used", count / 3));
    List<Outgoing<RawPayload>> mixed = new ArrayList<>();
    for (int i = 0; i < count / 3; i++) {
      mixed.add(withKey("used-" + i, i % 2 == 0 ? Integer.toString(i) : "\"other\""));
      mixed.add(withKey("new-" + i, "\"new\""));
      mixed.add(Outgoing.of(json("\"none\"")));
    }
    List<Produced> produced = lab.producer(stream).produceAll(mixed);
    long next = count / 3 + 1L;
    for (int i = 0; i < count / 3; i++) {
      assertThat(produced.get(3 * i)).isEqualTo(new Produced(used.get(i).id(), true, i % 2 == 0));
      assertThat(produced.get(3 * i + 1)).isEqualTo(new Produced(next++));
      assertThat(produced.get(3 * i + 2)).isEqualTo(new Produced(next++));
    }
    assertThat(lab.count(stream)).isEqualTo(count);
  }

  @ParameterizedTest
  @ValueSource(ints = {FEW, MANY})
  void theSameKeyTwiceInABatchIsADuplicateOfTheFirst(int count) {
    StreamInfo stream = lab.register();
    List<Outgoing<RawPayload>> messages = new ArrayList<>(withKeys("a", count));
    messages.add(withKey("a-0", "0"));
    messages.add(withKey("a-1", "\"other\""));
    for (boolean isFirst : new boolean[] {true, false}) {
      List<Produced> produced = lab.producer(stream).produceAll(messages);
      assertThat(produced.get(0).duplicate()).isEqualTo(!isFirst);
      assertThat(produced.get(count)).isEqualTo(new Produced(produced.get(0).id(), true, true));
      assertThat(produced.get(count + 1))
          .isEqualTo(new Produced(produced.get(1).id(), true, false));
    }
    assertThat(lab.count(stream)).isEqualTo(count);
  }

  @ParameterizedTest
  @EnumSource(PayloadType.class)
  void anotherPayloadIsSaidSo(PayloadType payloadType) {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPayloadType(payloadType));
    String original = "{\"a\":1,\"b\":\"\u00e9\"}";
    Map<String, Boolean> repeats =
        Map.of(
            original,
            true,
            "{\"b\": \"\\u00e9\", \"a\": 1.0}",
            payloadType == PayloadType.JSONB,
            "{\"a\":1,\"b\":\"e\"}",
            false,
            "{\"a\":1,\"b\":\"\u00e9\"} ",
            payloadType == PayloadType.JSONB);
    produce(stream, "k", original);
    List<Outgoing<RawPayload>> many = new ArrayList<>(numbered(MANY));
    repeats.forEach(
        (payload, same) -> {
          assertThat(produce(stream, "k", payload).samePayload()).as(payload).isEqualTo(same);
          many.add(0, withKey("k", payload));
          assertThat(lab.producer(stream).produceAll(many).get(0).samePayload())
              .as(payload)
              .isEqualTo(same);
        });
    if (payloadType == PayloadType.BYTEA) {
      ProduceOptions options = ProduceOptions.defaults().withIdempotencyKey("bytes");
      RawPayload bytes = RawPayload.of(new byte[] {0, -1, 39});
      lab.producer(stream).produce(bytes, options);
      assertThat(lab.producer(stream).produce(bytes, options).samePayload()).isTrue();
      assertThat(lab.producer(stream).produce(RawPayload.of(new byte[0]), options).samePayload())
          .isFalse();
    } else {
      for (List<Outgoing<RawPayload>> bad :
          List.of(List.of(withKey("k", "{")), insteadOfFirst(many, withKey("k", "{")))) {
        assertThatThrownBy(() -> lab.producer(stream).produceAll(bad))
            .as("refused like any other")
            .isInstanceOf(InvalidInputException.class);
      }
    }
  }

  private static List<Outgoing<RawPayload>> insteadOfFirst(
      List<Outgoing<RawPayload>> messages, Outgoing<RawPayload> first) {
    List<Outgoing<RawPayload>> others = new ArrayList<>(messages);
    others.set(0, first);
    return others;
  }

  /** More than one look at originals takes at once. */
  @Test
  void largePayloadsAreComparedToo() {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPayloadType(PayloadType.BYTEA));
    List<Outgoing<RawPayload>> messages = new ArrayList<>();
    for (int i = 0; i < 7; i++) {
      messages.add(
          Outgoing.of(
              RawPayload.of(new byte[400_000 + i]),
              ProduceOptions.defaults().withIdempotencyKey("k" + i)));
    }
    lab.producer(stream).produceAll(messages);
    Collections.swap(messages, 2, 5);
    messages.set(6, Outgoing.of(RawPayload.of(new byte[2_000_000]), messages.get(6).options()));
    assertThat(lab.producer(stream).produceAll(messages))
        .extracting(Produced::samePayload)
        .containsExactly(true, true, true, true, true, true, false);
  }

  @ParameterizedTest
  @ValueSource(ints = {FEW, MANY})
  void aRefusedMessageLeavesNoKey(int count) {
    StreamInfo stream = lab.register();
    List<Outgoing<RawPayload>> bad = new ArrayList<>(withKeys("a", count));
    bad.set(2, withKey("a-2", "{"));
    assertThatThrownBy(() -> lab.producer(stream).produceAll(bad))
        .isInstanceOf(InvalidInputException.class);
    assertThat(storedKeys(stream)).isEmpty();
    assertThat(duplicates(lab.producer(stream).produceAll(withKeys("a", count))))
        .containsOnly(false);
  }

  @Test
  void uuidsAreStoredAsTheyAreAndOthersAsTheirHash() {
    StreamInfo stream = lab.register();
    String uuid = "0190163d-8694-739b-aea5-966c26f8ad91";
    produce(stream, uuid, "1");
    produce(stream, uuid.toUpperCase(java.util.Locale.ROOT), "2");
    produce(stream, "order-4711", "3");
    List<String> stored = storedKeys(stream);
    assertThat(stored).hasSize(3).startsWith(uuid);
    assertThat(stored.subList(1, 3))
        .allSatisfy(key -> assertThat(UUID.fromString(key).version()).isEqualTo(8))
        .allSatisfy(key -> assertThat(UUID.fromString(key).variant()).isEqualTo(2));
    assertThat(lab.count(stream)).isEqualTo(3);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 255, LogLimits.MOST - 1, LogLimits.MOST})
  void b46_aLongKeyIsUniqueByAllOfIt(int bytes) {
    StreamInfo stream = lab.register();
    String key = random(bytes);
    String almost = key.substring(0, key.length() - 1) + (key.endsWith("a") ? "b" : "a");
    Produced first = produce(stream, key, "1");
    assertThat(produce(stream, almost, "1").duplicate()).isFalse();
    assertThat(produce(stream, key, "1").id()).isEqualTo(first.id());
    String wide = "\u00e9".repeat(LogLimits.MOST / 2);
    assertThat(produce(stream, wide, "1").duplicate()).isFalse();
    assertThat(produce(stream, wide, "1").duplicate()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {LogLimits.MOST + 1, 2_600, 2_800, 9_000})
  void b46_aLongerKeyIsRefusedAndTheLimitNamed(int bytes) {
    StreamInfo stream = lab.register();
    refused(stream, random(bytes), "the limit is 1024");
    refused(stream, "\u00e9".repeat(bytes / 2 + 1), "the limit is 1024");
    assertThat(lab.count(stream)).isZero();
  }

  private static final class LogLimits {
    static final int MOST = MessageChecks.MAX_KEY_BYTES;
  }

  private static String random(int length) {
    Random random = new Random(length);
    StringBuilder text = new StringBuilder();
    while (text.length() < length) {
      text.append((char) ('!' + random.nextInt('~' - '!')));
    }
    return text.toString();
  }

  @Test
  void b43_noNulAndNoHalfCharacterInAKey() {
    StreamInfo stream = lab.register();
    refused(stream, "x\0", "U+0000");
    refused(stream, "\ud800", "surrogate");
    refused(stream, "\udc00x", "surrogate");
    assertThat(produce(stream, "\ud83d\ude00", "1").duplicate()).isFalse();
    assertThat(produce(stream, "\ud83d\ude00", "1").duplicate()).isTrue();
    assertThat(lab.count(stream)).isEqualTo(1);
  }

  private void refused(StreamInfo stream, String key, String says) {
    for (int count : new int[] {1, 10, MANY}) {
      List<Outgoing<RawPayload>> messages = new ArrayList<>(numbered(count));
      messages.set(count / 2, withKey(key, "1"));
      assertThatThrownBy(() -> lab.producer(stream).produceAll(messages))
          .hasMessageContaining(says)
          .asInstanceOf(type(InvalidInputException.class))
          .extracting(InvalidInputException::field)
          .isEqualTo("idempotencyKey");
    }
  }

  /** The ways to produce, and how many messages at a time. */
  private enum Way {
    SINGLE(1),
    ASYNC(10),
    INSERT(30),
    COPY(MANY),
    SINGLE_IN_TRANSACTION(1),
    INSERT_IN_TRANSACTION(30),
    COPY_IN_TRANSACTION(MANY);

    private final int size;

    Way(int size) {
      this.size = size;
    }
  }

  private List<Produced> produce(
      Way way, Producer<RawPayload> producer, List<Outgoing<RawPayload>> batch) {
    Outgoing<RawPayload> first = batch.get(0);
    return switch (way) {
      case SINGLE -> List.of(producer.produce(first.payload(), first.options()));
      case ASYNC ->
          batch.stream()
              .map(message -> producer.produceAsync(message.payload(), message.options()))
              .toList()
              .stream()
              .map(CompletableFuture::join)
              .toList();
      case INSERT, COPY -> producer.produceAll(batch);
      case SINGLE_IN_TRANSACTION, INSERT_IN_TRANSACTION, COPY_IN_TRANSACTION -> {
        try (Connection connection = begin()) {
          List<Produced> produced =
              way == Way.SINGLE_IN_TRANSACTION
                  ? List.of(producer.in(connection).produce(first.payload(), first.options()))
                  : producer.in(connection).produceAll(batch);
          connection.commit();
          yield produced;
        } catch (SQLException e) {
          throw new IllegalStateException(e);
        }
      }
    };
  }

  /** Each with a client of its own, in an order of its own, by every form of produce. */
  @Test
  void twentyProducersShareThreeHundredKeys() throws Exception {
    StreamInfo stream = lab.register();
    int producers = 20;
    int keys = 300;
    Map<String, Set<Long>> ids = new ConcurrentHashMap<>();
    AtomicInteger written = new AtomicInteger();
    CountDownLatch start = new CountDownLatch(producers);
    List<CompletableFuture<Void>> all = new ArrayList<>();
    List<ProduceLab> clients = new ArrayList<>();
    for (int p = 0; p < producers; p++) {
      int seed = p;
      ProduceLab on = new ProduceLab(database, TestPool.shared(database));
      clients.add(on);
      all.add(
          CompletableFuture.runAsync(
              () -> {
                Random random = new Random(seed);
                List<Integer> order = new ArrayList<>(IntStream.range(0, keys).boxed().toList());
                Collections.shuffle(order, random);
                start.countDown();
                int at = 0;
                while (at < keys) {
                  Way way = Way.values()[random.nextInt(Way.values().length)];
                  int size = Math.min(keys - at, way.size);
                  List<Outgoing<RawPayload>> batch =
                      order.subList(at, at + size).stream()
                          .map(key -> withKey("k" + key, Integer.toString(key)))
                          .toList();
                  List<Produced> produced = produce(way, on.producer(stream), batch);
                  for (int i = 0; i < size; i++) {
                    ids.computeIfAbsent(
                            batch.get(i).payload().text(), key -> ConcurrentHashMap.newKeySet())
                        .add(produced.get(i).id());
                    assertThat(produced.get(i).samePayload()).isTrue();
                    written.addAndGet(produced.get(i).duplicate() ? 0 : 1);
                  }
                  at += size;
                }
              },
              threads));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(60, SECONDS);
    clients.forEach(ProduceLab::close);
    assertThat(written).hasValue(keys);
    assertThat(ids).hasSize(keys).allSatisfy((key, its) -> assertThat(its).hasSize(1));
    assertThat(lab.rows(stream))
        .hasSize(keys)
        .allSatisfy(row -> assertThat(ids.get(row.payload())).containsExactly(row.id()));
  }

  @Test
  void asynchronousMessagesAreCommittedTogetherWithTheirKeys() throws Exception {
    StreamInfo stream = lab.register();
    List<CompletableFuture<Produced>> all = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      Outgoing<RawPayload> message = withKey("k" + i % 100, Integer.toString(i % 100));
      all.add(lab.producer(stream).produceAsync(message.payload(), message.options()));
      all.add(lab.producer(stream).produceAsync(json("\"none\"")));
    }
    List<Produced> produced = new ArrayList<>();
    for (CompletableFuture<Produced> each : all) {
      produced.add(each.get(20, SECONDS));
    }
    assertThat(produced).filteredOn(p -> !p.duplicate()).hasSize(700);
    assertThat(produced).allSatisfy(p -> assertThat(p.samePayload()).isTrue());
    assertThat(lab.count(stream)).isEqualTo(700);
    for (int i = 0; i < 200; i++) {
      assertThat(produced.get(i + 200).id() == produced.get(i).id()).isEqualTo(i % 2 == 0);
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, FEW, MANY})
  void theSecondWaitsForTheFirst(int count) throws Exception {
    StreamInfo stream = lab.register();
    try (Connection first = begin()) {
      List<Produced> original = lab.producer(stream).in(first).produceAll(withKeys("a", count));
      List<Outgoing<RawPayload>> repeats = new ArrayList<>(withKeys("a", count));
      repeats.set(0, withKey("a-0", "\"other\""));
      CompletableFuture<List<Produced>> second =
          CompletableFuture.supplyAsync(() -> lab.producer(stream).produceAll(repeats), threads);
      awaitWaiting(statement(count));
      first.commit();
      List<Produced> produced = second.get(10, SECONDS);
      assertThat(ids(produced)).isEqualTo(ids(original));
      assertThat(duplicates(produced)).containsOnly(true);
      assertThat(produced.get(0).samePayload()).as("though it wasn't visible").isFalse();
      assertThat(produced.subList(1, count)).allSatisfy(p -> assertThat(p.samePayload()).isTrue());
      assertThat(lab.count(stream)).isEqualTo(count);
    }
  }

  @ParameterizedTest
  @CsvSource({"5, true", "5, false", "200, true", "200, false"})
  void whenTheFirstIsRolledBackTheSecondIsWritten(int count, boolean inTransaction)
      throws Exception {
    StreamInfo stream = lab.register();
    try (Connection first = begin();
        Connection other = begin()) {
      lab.producer(stream).in(first).produceAll(withKeys("a", count));
      CompletableFuture<List<Produced>> second =
          CompletableFuture.supplyAsync(
              () ->
                  (inTransaction
                      ? lab.producer(stream).in(other).produceAll(withKeys("a", count))
                      : lab.producer(stream).produceAll(withKeys("a", count))),
              threads);
      awaitWaiting(statement(count));
      first.rollback();
      assertThat(duplicates(second.get(10, SECONDS))).containsOnly(false);
      other.commit();
      assertThat(ids(second.join())).isSorted();
      assertThat(lab.payloads(stream))
          .isEqualTo(IntStream.range(0, count).mapToObj(Integer::toString).toList());
    }
  }

  @ParameterizedTest
  @CsvSource({"4, 1", "4, 200", "8, 1", "8, 200"})
  void aCallersSnapshotMeansOneMessageOrACleanRefusal(int isolation, int count)
      throws SQLException {
    StreamInfo stream = lab.register();
    produce(stream, "seen", "1");
    try (Connection connection = begin(isolation)) {
      value(connection, "SELECT count(*) FROM " + lab.log(stream)); // takes the snapshot
      List<Produced> other = lab.producer(stream).produceAll(withKeys("a", count));
      assertThat(lab.producer(stream).in(connection).produceAll(List.of(withKey("seen", "1"))))
          .containsExactly(new Produced(1, true, true));
      assertThatThrownBy(() -> lab.producer(stream).in(connection).produceAll(withKeys("a", count)))
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.CONTENTION))
          .extracting(DatabaseException::sqlState)
          .isEqualTo("40001");
      connection.rollback();
      assertThat(ids(lab.producer(stream).in(connection).produceAll(withKeys("a", count))))
          .isEqualTo(ids(other));
      connection.commit();
    }
    assertThat(lab.count(stream)).isEqualTo(1 + count);
  }

  /** Both have their snapshots before either writes. */
  @ParameterizedTest
  @CsvSource({"4, true", "4, false", "8, true", "8, false"})
  void twoCallersWithSnapshotsNeverWriteTwice(int isolation, boolean commits) throws Exception {
    StreamInfo stream = lab.register();
    produce(stream, "before", "0");
    try (Connection first = begin(isolation);
        Connection second = begin(isolation)) {
      for (Connection each : List.of(first, second)) {
        value(each, "SELECT count(*) FROM " + lab.log(stream));
      }
      lab.producer(stream).in(first).produceAll(List.of(withKey("k", "1")));
      CompletableFuture<List<Produced>> waiting =
          CompletableFuture.supplyAsync(
              () -> lab.producer(stream).in(second).produceAll(List.of(withKey("k", "1"))),
              threads);
      awaitWaiting("produce_keyed");
      if (commits) {
        first.commit();
        assertThatThrownBy(() -> waiting.get(10, SECONDS))
            .cause()
            .asInstanceOf(type(DatabaseException.class))
            .extracting(DatabaseException::sqlState)
            .isEqualTo("40001");
        second.rollback();
      } else {
        first.rollback();
        assertThat(duplicates(waiting.get(10, SECONDS))).containsExactly(false);
        second.commit();
      }
      assertThat(lab.payloads(stream)).containsExactly("0", "1");
    }
  }

  @Test
  void withinOneTransactionARepeatIsADuplicateAndASavepointTakesTheKeyBack() throws SQLException {
    StreamInfo stream = lab.register();
    try (Connection connection = begin()) {
      var producer = lab.producer(stream).in(connection);
      Savepoint savepoint = connection.setSavepoint();
      producer.produceAll(List.of(withKey("k", "1")));
      connection.rollback(savepoint);
      Produced original = producer.produceAll(List.of(withKey("k", "2"))).get(0);
      assertThat(original.duplicate()).isFalse();
      assertThat(producer.produceAll(List.of(withKey("k", "2"))))
          .containsExactly(new Produced(original.id(), true, true));
      List<Outgoing<RawPayload>> many = new ArrayList<>(withKeys("a", MANY));
      many.set(5, withKey("k", "3"));
      assertThat(producer.produceAll(many).get(5))
          .isEqualTo(new Produced(original.id(), true, false));
      connection.commit();
      assertThat(lab.count(stream)).isEqualTo(MANY);
      execute(connection, "SELECT 1");
      connection.rollback();
    }
  }

  @Test
  void inAutoCommitModeACallersConnectionWillDo() throws SQLException {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPartitionSize(100));
    try (Connection connection = lab.connect()) {
      var producer = lab.producer(stream).in(connection);
      for (int count : new int[] {150, MANY}) {
        List<Produced> first = producer.produceAll(withKeys("a" + count, count));
        assertThat(duplicates(first)).containsOnly(false);
        List<Produced> again = producer.produceAll(withKeys("a" + count, count));
        assertThat(ids(again)).isEqualTo(ids(first));
        assertThat(duplicates(again)).containsOnly(true);
      }
    }
    assertThat(lab.count(stream)).isEqualTo(150 + MANY);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 150, MANY, 2_000})
  void aMissingPartitionIsHealedAndTheKeysAreUsedOnce(int count) throws SQLException {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPartitionSize(100));
    lab.number("SELECT setval('" + lab.log(stream) + "_id_seq', 10000000)");
    assertThat(duplicates(lab.producer(stream).produceAll(withKeys("a", count))))
        .containsOnly(false);
    try (Connection connection = begin()) {
      lab.number("SELECT setval('" + lab.log(stream) + "_id_seq', 20000000)");
      assertThat(duplicates(lab.producer(stream).in(connection).produceAll(withKeys("b", count))))
          .containsOnly(false);
      connection.commit();
    }
    assertThat(lab.count(stream)).isEqualTo(2L * count);
    assertThat(storedKeys(stream)).hasSize(2 * count);
  }

  @ParameterizedTest
  @ValueSource(ints = {FEW, MANY})
  void aKeyThatHasRunOutIsAsNew(int count) {
    StreamInfo stream =
        lab.register(StreamConfig.defaults().withIdempotencyKeyTtl(Duration.ofHours(2)));
    List<Produced> first = lab.producer(stream).produceAll(withKeys("a", count));
    age(stream, "119 minutes");
    assertThat(ids(lab.producer(stream).produceAll(withKeys("a", count)))).isEqualTo(ids(first));
    age(stream, "2 minutes");
    List<Produced> second = lab.producer(stream).produceAll(withKeys("a", count));
    assertThat(duplicates(second)).containsOnly(false);
    assertThat(second.get(0).id()).isGreaterThan(first.get(count - 1).id());
    assertThat(ids(lab.producer(stream).produceAll(withKeys("a", count)))).isEqualTo(ids(second));
    assertThat(storedKeys(stream)).as("replaced").hasSize(count);
    assertThat(lab.count(stream)).isEqualTo(2L * count);
  }

  /** Whoever declares last decides, for keys that are there already as well. */
  @Test
  void theNewestTimeToLiveCounts() {
    StreamInfo stream = lab.register();
    produce(stream, "k", "1");
    age(stream, "2 hours");
    assertThat(produce(stream, "k", "1").duplicate()).isTrue();
    lab.client().stream(stream.name())
        .register(StreamConfig.defaults().withIdempotencyKeyTtl(Duration.ofHours(1)));
    try (ProduceLab later = new ProduceLab(database, TestPool.shared(database))) {
      Outgoing<RawPayload> message = withKey("k", "1");
      assertThat(later.producer(stream).produce(message.payload(), message.options()).duplicate())
          .isFalse();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"PT0.001S", "PT2562047H47M16.854775807S"})
  void theShortestAndTheLongestTimeToLiveWork(Duration ttl) {
    StreamInfo stream = lab.register(StreamConfig.defaults().withIdempotencyKeyTtl(ttl));
    produce(stream, "k", "1");
    age(stream, "1 second");
    assertThat(produce(stream, "k", "1").duplicate()).isEqualTo(ttl.toSeconds() > 0);
  }

  @Test
  void ofTwoThatFindAKeyRunOutOneIsWritten() throws Exception {
    StreamInfo stream = lab.register();
    produce(stream, "k", "1");
    age(stream, "25 hours");
    try (Connection first = begin()) {
      Produced original =
          lab.producer(stream).in(first).produceAll(List.of(withKey("k", "2"))).get(0);
      assertThat(original.duplicate()).isFalse();
      CompletableFuture<Produced> second =
          CompletableFuture.supplyAsync(() -> produce(stream, "k", "2"), threads);
      awaitWaiting("produce_keyed");
      first.commit();
      assertThat(second.get(10, SECONDS)).isEqualTo(new Produced(original.id(), true, true));
    }
    assertThat(lab.payloads(stream)).containsExactly("1", "2");
  }

  private void age(StreamInfo stream, String interval) {
    lab.execute(
        "UPDATE " + keys(stream) + " SET created_at = created_at - interval '" + interval + "'");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, MANY})
  void aKeyOutlivesThePartitionOfItsMessage(int count) {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPartitionSize(1_000));
    List<Produced> original = lab.producer(stream).produceAll(withKeys("a", count));
    lab.number("SELECT setval('" + lab.log(stream) + "_id_seq', 1000)");
    lab.producer(stream).produce(json("0"));
    lab.execute("ALTER TABLE " + lab.log(stream) + " DETACH PARTITION " + lab.log(stream) + "_0");
    List<Outgoing<RawPayload>> repeats = new ArrayList<>(withKeys("a", count));
    repeats.set(0, withKey("a-0", "\"who knows\""));
    List<Produced> produced = lab.producer(stream).produceAll(repeats);
    assertThat(ids(produced)).isEqualTo(ids(original));
    assertThat(produced).allSatisfy(p -> assertThat(p).isEqualTo(new Produced(p.id(), true, true)));
    assertThat(lab.payloads(stream)).containsExactly("0");
  }

  /** In pairs that want the same keys in opposite orders, in both ways of writing. */
  @ParameterizedTest
  @ValueSource(ints = {40, MANY})
  void batchesWithTheSameKeysInOppositeOrdersDoNotDeadlock(int count) throws Exception {
    StreamInfo stream = lab.register();
    int rounds = 25;
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 4)) {
      for (int t = 0; t < 4; t++) {
        boolean backwards = t % 2 == 0;
        boolean inTransaction = t < 2;
        Producer<RawPayload> producer = lab.producer(stream);
        all.add(
            CompletableFuture.supplyAsync(
                () -> {
                  int written = 0;
                  for (int round = 0; round < rounds; round++) {
                    List<Outgoing<RawPayload>> batch =
                        new ArrayList<>(withKeys("r" + round, count));
                    if (backwards) {
                      Collections.reverse(batch);
                    }
                    List<Produced> produced =
                        inTransaction
                            ? inTransaction(pool, producer, batch)
                            : producer.produceAll(batch);
                    written += Collections.frequency(duplicates(produced), false);
                  }
                  return written;
                },
                threads));
      }
      int written = 0;
      for (CompletableFuture<Integer> each : all) {
        written += each.get(60, SECONDS);
      }
      assertThat(written).isEqualTo(rounds * count);
    }
    assertThat(lab.count(stream)).isEqualTo((long) rounds * count);
    assertThat(database.deadlocks()).isEmpty();
  }

  private static List<Produced> inTransaction(
      HikariDataSource pool, Producer<RawPayload> producer, List<Outgoing<RawPayload>> batch) {
    try (Connection connection = pool.getConnection()) {
      connection.setAutoCommit(false);
      List<Produced> produced = producer.in(connection).produceAll(batch);
      connection.commit();
      return produced;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void withoutKeysTheirTableIsNotTouched() {
    StreamInfo stream = lab.register();
    lab.execute("DROP TABLE " + keys(stream));
    lab.producer(stream).produce(json("1"));
    lab.producer(stream).produceAll(numbered(MANY));
    assertThat(lab.count(stream)).isEqualTo(1 + MANY);
  }
}
