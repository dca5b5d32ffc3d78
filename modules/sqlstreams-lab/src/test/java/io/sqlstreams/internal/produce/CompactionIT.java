package io.sqlstreams.internal.produce;

import static io.sqlstreams.internal.produce.ProduceLab.json;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.PayloadCodec;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Notifications;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Compacted messages take the heads of their keys, in whatever way they are written. */
@SqlStreamsTest
class CompactionIT {
  private static final int FEW = 5;
  private static final int MANY = LogWriter.COPY_MESSAGES;

  TestDatabase database;
  private SqlStreams client;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @BeforeEach
  void open() {
    client = TestStream.client(database);
  }

  @AfterEach
  void close() {
    client.close();
    threads.shutdownNow();
    assertThat(database.deadlocks()).isEmpty();
  }

  private static ProduceOptions compacted(String key) {
    return ProduceOptions.key(key).withCompaction();
  }

  private static Outgoing<RawPayload> message(String key, long rank, String payload) {
    return Outgoing.of(json(payload), ProduceOptions.key(key).withCompaction(rank));
  }

  private Producer<RawPayload> producer(TestStream stream) {
    return client.stream(stream.name()).producer();
  }

  /** Writes as another schema version. */
  private Producer<RawPayload> producer(TestStream stream, int schemaVersion) {
    PayloadCodec<RawPayload> raw = RawPayload.codec();
    PayloadCodec<RawPayload> codec =
        new PayloadCodec<>() {
          @Override
          public byte[] encode(RawPayload payload) throws Exception {
            return raw.encode(payload);
          }

          @Override
          public RawPayload decode(byte[] bytes) throws Exception {
            return raw.decode(bytes);
          }

          @Override
          public int schemaVersion() {
            return schemaVersion;
          }
        };
    return client.stream(stream.name(), codec).producer();
  }

  /** Each key's head is the message that must win, and there are no others. */
  private static void assertHeadsAreRight(TestStream stream) {
    List<String> won =
        stream.rows(
            "SELECT DISTINCT ON (message_key) message_key, id, schema_version, compaction_rank, payload IS NULL"
                + " FROM {log} WHERE compaction_rank IS NOT NULL"
                + " ORDER BY message_key, schema_version DESC, compaction_rank DESC, id DESC");
    assertThat(
            stream.rows(
                "SELECT compaction_key, message_id, schema_version, compaction_rank, tombstone FROM {heads}"
                    + " ORDER BY compaction_key"))
        .isEqualTo(won);
  }

  private static String head(TestStream stream, String key) {
    return stream
        .rows("SELECT message_id FROM {heads} WHERE compaction_key = '" + key + "'")
        .get(0);
  }

  @ParameterizedTest
  @EnumSource(PayloadType.class)
  void everyWayOfProducingTakesTheHeads(PayloadType payloadType) throws Exception {
    TestStream stream =
        TestStream.register(
            database, StreamConfig.defaults().withPayloadType(payloadType), GroupConfig.defaults());
    Producer<RawPayload> producer = producer(stream);
    Random random = new Random(7);
    for (int round = 0; round < 4; round++) {
      producer.produce(json("1"), compacted("single"));
      producer.produceTombstone("single-gone");
      producer.produceAsync(json("1"), compacted("async")).get();
      producer.produceTombstoneAsync(ProduceOptions.key("async-gone")).get();
      for (int size : List.of(FEW, MANY)) {
        producer.produceAll(mixed(random, size, "plain", null));
        producer.produceAll(mixed(random, size, "keyed", "round-" + round + "-" + size));
        try (Connection connection = stream.dataSource().getConnection()) {
          producer.in(connection).produceAll(mixed(random, size, "own", null));
          connection.setAutoCommit(false);
          producer.in(connection).produceAll(mixed(random, size, "caller", null));
          producer
              .in(connection)
              .produceAll(mixed(random, size, "caller", "c" + round + "-" + size));
          producer.in(connection).produceTombstone("caller-gone");
          connection.commit();
          producer.in(connection).produceAll(mixed(random, size, "rolled back", null));
          connection.rollback();
          connection.setAutoCommit(true);
        }
      }
      producer(stream, 2).produceAll(mixed(random, FEW, "plain", null));
      producer(stream, 2).produceAll(mixed(random, MANY, "keyed", "v2-" + round));
      assertHeadsAreRight(stream);
    }
    assertThat(stream.number("SELECT count(*) FROM {heads} WHERE tombstone")).isPositive();
    assertThat(
            stream.number(
                "SELECT count(*) FROM {log} WHERE payload IS NULL AND compaction_rank IS NULL"))
        .isZero();
    assertThat(
            stream.number("SELECT count(*) FROM {heads} WHERE compaction_key LIKE 'rolled back%'"))
        .isZero();
  }

  /** Compacted messages of a few keys and any rank, tombstones, and messages that aren't. */
  private static List<Outgoing<RawPayload>> mixed(
      Random random, int size, String prefix, String idempotency) {
    List<Outgoing<RawPayload>> messages = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      ProduceOptions options = ProduceOptions.key(prefix + random.nextInt(7));
      if (idempotency != null && random.nextInt(3) > 0) {
        options = options.withIdempotencyKey(idempotency + "-" + random.nextInt(size));
      }
      switch (random.nextInt(6)) {
        case 0 -> messages.add(Outgoing.of(json("0"), options));
        case 1 -> messages.add(Outgoing.tombstone(options));
        case 2 -> messages.add(Outgoing.tombstone(options.withCompaction(random.nextInt(3) - 1)));
        default ->
            messages.add(
                Outgoing.of(
                    json(Integer.toString(i)), options.withCompaction(random.nextInt(4) - 2)));
      }
    }
    return messages;
  }

  @Test
  void theGreatestVersionThenRankThenIdWins() {
    TestStream stream = TestStream.register(database);
    long first = producer(stream).produce(json("1"), compacted("k")).id();
    long second = producer(stream).produce(json("2"), compacted("k")).id();
    assertThat(head(stream, "k")).isEqualTo(Long.toString(second));
    long ranked =
        producer(stream).produce(json("3"), ProduceOptions.key("k").withCompaction(5)).id();
    producer(stream).produce(json("4"), ProduceOptions.key("k").withCompaction(4));
    producer(stream).produceTombstone("k");
    assertThat(head(stream, "k")).isEqualTo(Long.toString(ranked));
    long newer =
        producer(stream, 2).produce(json("5"), ProduceOptions.key("k").withCompaction(-9)).id();
    producer(stream).produce(json("6"), ProduceOptions.key("k").withCompaction(Long.MAX_VALUE));
    producer(stream).produce(json("7"), ProduceOptions.key("k"));
    assertThat(head(stream, "k")).isEqualTo(Long.toString(newer));
    assertThat(first).isLessThan(second);
    assertHeadsAreRight(stream);
  }

  @ParameterizedTest
  @ValueSource(ints = {FEW, MANY})
  void aDuplicateTakesNoHead(int size) {
    TestStream stream = TestStream.register(database);
    List<Outgoing<RawPayload>> once = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      once.add(Outgoing.of(json("1"), compacted("k" + i).withIdempotencyKey("i" + i)));
    }
    producer(stream).produceAll(once);
    List<String> heads = stream.rows("SELECT * FROM {heads} ORDER BY 1");
    List<Outgoing<RawPayload>> again = new ArrayList<>(once);
    again.replaceAll(
        message -> Outgoing.of(message.payload(), message.options().withCompaction(9)));
    Collections.shuffle(again, new Random(1));
    assertThat(producer(stream).produceAll(again)).allMatch(Produced::duplicate);
    assertThat(stream.rows("SELECT * FROM {heads} ORDER BY 1")).isEqualTo(heads);
  }

  @ParameterizedTest
  @EnumSource(PayloadType.class)
  void aTombstoneIsNoDuplicateOfAPayloadNorOfTheJsonNull(PayloadType payloadType) {
    TestStream stream =
        TestStream.register(
            database, StreamConfig.defaults().withPayloadType(payloadType), GroupConfig.defaults());
    ProduceOptions gone = ProduceOptions.key("k").withIdempotencyKey("gone");
    ProduceOptions there = ProduceOptions.key("k").withIdempotencyKey("there").withCompaction();
    producer(stream).produceTombstone(gone);
    producer(stream).produce(json("null"), there);
    assertThat(producer(stream).produceTombstone(gone).samePayload()).isTrue();
    assertThat(producer(stream).produce(json("null"), gone).samePayload()).isFalse();
    assertThat(producer(stream).produceTombstone(there).samePayload()).isFalse();
    assertThat(producer(stream).produce(json("null"), there).samePayload()).isTrue();
  }

  @Test
  void whatIsWrongIsRefusedBeforeAnythingIsSent() {
    TestStream stream = TestStream.register(database);
    Producer<RawPayload> producer = producer(stream);
    assertThatThrownBy(
            () -> producer.produce(json("1"), ProduceOptions.defaults().withCompaction()))
        .asInstanceOf(type(InvalidInputException.class))
        .satisfies(e -> assertThat(e.field()).isEqualTo("messageKey"));
    assertThatThrownBy(() -> producer.produceTombstone(ProduceOptions.defaults()))
        .asInstanceOf(type(InvalidInputException.class))
        .satisfies(e -> assertThat(e.field()).isEqualTo("messageKey"));
    assertThatThrownBy(() -> producer.produce(null, compacted("k")))
        .asInstanceOf(type(InvalidInputException.class))
        .satisfies(e -> assertThat(e.field()).isEqualTo("payload"));
    assertThat(stream.number("SELECT coalesce(max(id), 0) FROM {log}")).isZero();
  }

  @Test
  void b46_aKeyAtItsLimitHasAHeadAndOneAboveIsRefused() {
    TestStream stream = TestStream.register(database);
    Random random = new Random(3);
    // four bytes each, and nothing that compresses
    String key =
        random
            .ints(256, 0x10000, 0x10ffff)
            .collect(StringBuilder::new, StringBuilder::appendCodePoint, StringBuilder::append)
            .toString();
    long id = producer(stream).produce(json("1"), compacted(key)).id();
    producer(stream).produceAll(Collections.nCopies(MANY, message(key + "", 0, "2")));
    assertThat(client.stream(stream.name()).key(key).head().orElseThrow().id())
        .isEqualTo(id + MANY);
    assertThatThrownBy(() -> producer(stream).produce(json("1"), compacted(key + "x")))
        .isInstanceOf(InvalidInputException.class);
    assertThatThrownBy(() -> client.stream(stream.name()).key(key + "x").head())
        .isInstanceOf(InvalidInputException.class);
    producer(stream).produce(json("3"), compacted(""));
    assertThat(client.stream(stream.name()).key("").head().orElseThrow().payload())
        .isEqualTo(json("3"));
  }

  @Test
  void b45_numbersAreTheSameBytesInTheHead() {
    TestStream stream = TestStream.register(database);
    String payload = "{\"id\":12345678901234567890123, \"price\":1.10,\"e\":1E+2, \"e\":-0.0}";
    producer(stream).produce(json(payload), compacted("single"));
    producer(stream).produceAll(Collections.nCopies(MANY, message("many", 0, payload)));
    for (String key : List.of("single", "many")) {
      assertThat(client.stream(stream.name()).key(key).head().orElseThrow().payload().text())
          .isEqualTo(payload);
    }
    assertThat(client.stream(stream.name()).key("single").messages(1).get(0).payload().text())
        .isEqualTo(payload);
  }

  @Test
  void b48_seventyThousandCompactedMessagesGoInOneBatch() {
    TestStream stream = TestStream.register(database);
    List<Outgoing<RawPayload>> messages = new ArrayList<>();
    for (int i = 0; i < 70_000; i++) {
      // some keys twice, in no order, with characters that Java and UTF-8 sort differently
      int number = i * 7_919 % 60_000;
      messages.add(message((number % 2 == 0 ? "\ud83d\ude00" : "\uffee") + number, 0, "1"));
    }
    assertThat(producer(stream).produceAll(messages)).hasSize(70_000);
    assertThat(stream.number("SELECT count(*) FROM {heads}")).isEqualTo(60_000);
    assertHeadsAreRight(stream);
  }

  @Test
  void b52_twoInstallationsShareNothing() {
    TestStream stream = TestStream.register(database);
    String other = "o_" + database.schema();
    try (SqlStreams second =
        SqlStreams.builder(stream.dataSource())
            .schema(other.substring(0, Math.min(40, other.length())))
            .allowDestroy(true)
            .build()) {
      second.stream(stream.name()).register();
      producer(stream).produce(json("1"), compacted("k"));
      assertThat(second.stream(stream.name()).key("k").head()).isEmpty();
      second.stream(stream.name()).producer().produce(json("2"), compacted("k"));
      second.stream(stream.name()).key("k").change(head -> io.sqlstreams.HeadChange.tombstone());
      assertThat(client.stream(stream.name()).key("k").head().orElseThrow().payload())
          .isEqualTo(json("1"));
      second.stream(stream.name()).sweepHeads();
      second.system().destroy();
    }
    assertThat(client.stream(stream.name()).key("k").messages(10)).hasSize(1);
  }

  @Test
  void plainWritesDoNotTouchTheHeads() throws Exception {
    TestStream stream = TestStream.register(database);
    try (Connection connection = stream.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      producer(stream).in(connection).produce(json("1"), ProduceOptions.key("k"));
      producer(stream)
          .in(connection)
          .produceAll(Collections.nCopies(MANY, Outgoing.of(json("1"), ProduceOptions.key("k"))));
      String locked =
          stream.sql(
              "SELECT count(*) FROM pg_locks WHERE pid = pg_backend_pid() AND relation = '{heads}'::regclass");
      assertThat(ProduceLab.value(connection, locked)).isEqualTo("0");
      producer(stream).in(connection).produce(json("1"), compacted("k"));
      assertThat(ProduceLab.value(connection, locked)).isEqualTo("1");
      connection.rollback();
      connection.setAutoCommit(true);
    }
  }

  @Test
  void aFewCompactedMessagesTakeOneRoundTripAndManyOneMoreThanPlainOnes() throws Exception {
    TestStream stream = TestStream.register(database);
    PGSimpleDataSource direct = new PGSimpleDataSource();
    direct.setUrl(database.jdbcUrl());
    direct.setSslMode("disable");
    try (CountingProxy proxy =
        new CountingProxy(direct.getServerNames()[0], direct.getPortNumbers()[0])) {
      direct.setServerNames(new String[] {"localhost"});
      direct.setPortNumbers(new int[] {proxy.port()});
      try (HikariDataSource pool = TestPool.of(direct, 1);
          SqlStreams on =
              SqlStreams.builder(pool)
                  .schema(database.schema())
                  // else consumers are told now and then
                  .notifications(Notifications.NONE)
                  .build()) {
        Producer<RawPayload> producer = on.stream(stream.name()).producer();
        producer.produce(json("1"), compacted("k"));
        long before = proxy.roundTrips();
        for (int i = 0; i < 10; i++) {
          producer.produce(json("1"), compacted("k"));
          producer.produceAll(Collections.nCopies(50, message("k", 0, "1")));
          producer.produceAll(
              List.of(Outgoing.of(json("1"), compacted("k").withIdempotencyKey("i" + i))));
        }
        assertThat(proxy.roundTrips() - before).isEqualTo(30);
        before = proxy.roundTrips();
        producer.produceAll(Collections.nCopies(MANY, message("k", 0, "1")));
        assertThat(proxy.roundTrips() - before).isEqualTo(5);
      }
    }
  }

  @ParameterizedTest
  @CsvSource({"true, 1", "true, 200", "false, 1", "false, 200"})
  void ofTwoProducersOfAKeyOneWaitsAndTheGreaterWins(boolean laterFirst, int size)
      throws Exception {
    TestStream stream = TestStream.register(database);
    List<Outgoing<RawPayload>> write = Collections.nCopies(size, message("k", 0, "1"));
    // the one that waits keeps the application's name, by which it is found
    try (NamedTransaction holder = stream.begin("holder");
        Connection waiter = stream.unpooled()) {
      waiter.setAutoCommit(false);
      // in one of the cases what waits has drawn smaller ids in its transaction than what it waits
      // for
      long plain = laterFirst ? producer(stream).in(waiter).produce(json("0")).id() : 0;
      List<Produced> held = producer(stream).in(holder.connection()).produceAll(write);
      CompletableFuture<List<Produced>> waiting =
          CompletableFuture.supplyAsync(
              () -> producer(stream).in(waiter).produceAll(write), threads);
      awaitHeadIsWaitedFor(stream, size);
      assertThat(new StepReader(stream).polls(3)).as("the writers are seen").isEmpty();
      if (laterFirst) {
        holder.commits();
      } else {
        holder.rollsBack();
      }
      List<Produced> written = waiting.get(30, SECONDS);
      assertThat(written.get(0).id()).isGreaterThan(held.get(0).id()).isGreaterThan(plain);
      waiter.commit();
    }
    assertHeadsAreRight(stream);
    assertThat(new StepReader(stream).polls(3)).as("nothing is skipped").isNotEmpty();
  }

  private static void awaitHeadIsWaitedFor(TestStream stream, int size) {
    stream.awaitWaiting(size < MANY ? "produce_compacted" : "take_compaction_heads");
  }

  @Test
  void aSmallerMessageThatComesToTheHeadLaterChangesNothing() throws Exception {
    TestStream stream = TestStream.register(database);
    try (NamedTransaction winner = stream.begin("winner")) {
      long won =
          producer(stream)
              .in(winner.connection())
              .produce(json("1"), ProduceOptions.key("k").withCompaction(2))
              .id();
      Future<Produced> loser =
          threads.submit(
              () -> producer(stream).produce(json("2"), ProduceOptions.key("k").withCompaction(1)));
      stream.awaitWaiting("produce_compacted");
      winner.commits();
      assertThat(loser.get(30, SECONDS).id()).isGreaterThan(won);
      assertThat(head(stream, "k")).isEqualTo(Long.toString(won));
    }
    assertHeadsAreRight(stream);
  }

  @ParameterizedTest
  @CsvSource({"1, true", "200, true", "1, false", "200, false"})
  void atRepeatableReadAHeadThatChangedSinceTheSnapshotIsASerializationFailure(
      int size, boolean isThere) throws Exception {
    TestStream stream = TestStream.register(database);
    if (isThere) {
      producer(stream).produce(json("0"), compacted("k"));
    }
    try (Connection connection = stream.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      ProduceLab.value(connection, stream.sql("SELECT count(*) FROM {log}"));
      producer(stream).produce(json("1"), compacted("k"));
      assertThatThrownBy(
              () ->
                  producer(stream)
                      .in(connection)
                      .produceAll(Collections.nCopies(size, message("k", 0, "2"))))
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(e -> assertThat(e.sqlState()).isEqualTo("40001"))
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.CONTENTION));
      connection.rollback();
      connection.setAutoCommit(true);
    }
    assertHeadsAreRight(stream);
  }

  @Test
  void b22_batchesWithTheSameKeysInOtherOrdersNeverDeadlock() throws Exception {
    TestStream stream = TestStream.register(database);
    List<String> keys =
        IntStream.range(0, 40).mapToObj(i -> (i % 3 == 0 ? "\ud83d\ude00" : "\uffee") + i).toList();
    List<Future<?>> writers = new ArrayList<>();
    for (int thread = 0; thread < 8; thread++) {
      int seed = thread;
      writers.add(threads.submit(() -> write(stream, keys, new Random(seed), 25)));
    }
    for (Future<?> writer : writers) {
      writer.get(240, SECONDS);
    }
    assertThat(database.deadlocks()).isEmpty();
    assertHeadsAreRight(stream);
  }

  private Void write(TestStream stream, List<String> keys, Random random, int rounds)
      throws Exception {
    Producer<RawPayload> producer = producer(stream);
    List<String> mine = new ArrayList<>(keys);
    for (int round = 0; round < rounds; round++) {
      Collections.shuffle(mine, random);
      List<Outgoing<RawPayload>> batch = new ArrayList<>();
      int size = random.nextBoolean() ? mine.size() : MANY + 10;
      boolean keyed = random.nextBoolean();
      for (int i = 0; i < size; i++) {
        ProduceOptions options =
            ProduceOptions.key(mine.get(i % mine.size())).withCompaction(random.nextInt(3));
        // few keys, so that they race too
        batch.add(
            Outgoing.of(
                json("1"),
                keyed && random.nextInt(3) == 0
                    ? options.withIdempotencyKey("i" + random.nextInt(200))
                    : options));
      }
      switch (random.nextInt(4)) {
        case 0 -> {
          try (Connection connection = stream.dataSource().getConnection()) {
            connection.setAutoCommit(false);
            producer.in(connection).produceAll(batch);
            connection.commit();
            connection.setAutoCommit(true);
          }
        }
        case 1 -> {
          List<CompletableFuture<Produced>> all = new ArrayList<>();
          for (Outgoing<RawPayload> message : batch) {
            all.add(producer.produceAsync(message.payload(), message.options()));
          }
          for (CompletableFuture<Produced> one : all) {
            one.get(60, SECONDS);
          }
        }
        case 2 -> client.stream(stream.name()).key(mine.get(0)).update(value -> json("2"));
        default -> producer.produceAll(batch);
      }
    }
    return null;
  }
}
