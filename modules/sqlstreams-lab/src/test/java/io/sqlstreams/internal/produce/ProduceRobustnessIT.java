package io.sqlstreams.internal.produce;

import static io.sqlstreams.internal.produce.ProduceLab.execute;
import static io.sqlstreams.internal.produce.ProduceLab.json;
import static io.sqlstreams.internal.produce.ProduceLab.numbered;
import static io.sqlstreams.internal.produce.ProduceLab.value;
import static io.sqlstreams.internal.produce.ProduceLab.withKeys;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Notifications;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.error.SqlStreamsException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

@SqlStreamsTest
class ProduceRobustnessIT {
  private static final int MANY = LogWriter.COPY_MESSAGES;

  /** Past the driver's threshold for prepared statements. */
  private static final int ROUNDS = 6;

  TestDatabase database;
  private ProduceLab lab;
  private final ExecutorService threads = Executors.newCachedThreadPool();

  @BeforeEach
  void open() {
    lab = new ProduceLab(database, database.dataSource());
  }

  @AfterEach
  void close() {
    lab.close();
    threads.shutdownNow();
  }

  private DataSource withUrl(String parameters) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setURL(database.jdbcUrl() + (database.jdbcUrl().contains("?") ? "&" : "?") + parameters);
    return source;
  }

  private HikariDataSource pool(DataSource source, int size, boolean autoCommit) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(source);
    config.setMaximumPoolSize(size);
    config.setAutoCommit(autoCommit);
    return new HikariDataSource(config);
  }

  /** Everything once, on whatever source. */
  private void exercise(DataSource source) throws Exception {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPartitionSize(1_000));
    try (ProduceLab on = new ProduceLab(database, source)) {
      Producer<RawPayload> producer = on.producer(stream);
      for (int round = 0; round < ROUNDS; round++) {
        producer.produce(json("1"));
        producer.produceAll(numbered(20));
        producer.produceAll(numbered(MANY));
        producer.produceAsync(json("2")).get(10, SECONDS);
        keyed(round, producer);
        assertThatThrownBy(() -> producer.produce(json("{")))
            .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(
                () -> producer.produceAll(Collections.nCopies(MANY, Outgoing.of(json("{")))))
            .isInstanceOf(InvalidInputException.class);
        try (Connection connection = source.getConnection()) {
          producer.in(connection).produce(json("3"));
          producer.in(connection).produceAll(numbered(20));
          producer.in(connection).produceAll(numbered(MANY));
          assertThat(producer.in(connection).produceAll(withKeys("n" + round, 3)))
              .extracting(Produced::duplicate)
              .containsExactly(false, false, false);
          assertThat(producer.in(connection).produceAll(withKeys("m" + round, 3)))
              .extracting(Produced::duplicate)
              .containsExactly(true, true, true);
          assertThatThrownBy(() -> producer.in(connection).produce(json("{")))
              .isInstanceOf(InvalidInputException.class);
          if (!connection.getAutoCommit()) {
            connection.commit();
          }
        }
      }
    }
    assertThat(lab.count(stream)).isEqualTo((long) ROUNDS * (2 * 20 + 2 * MANY + 3 + 3 + MANY + 3));
  }

  /** New keys and used ones, in both ways of writing. */
  private static void keyed(int round, Producer<RawPayload> producer) {
    for (boolean used : new boolean[] {false, true}) {
      assertThat(producer.produceAll(withKeys("f" + round, 3)))
          .extracting(Produced::duplicate)
          .containsOnly(used);
      assertThat(producer.produceAll(withKeys("m" + round, MANY)))
          .allSatisfy(produced -> assertThat(produced.duplicate()).isEqualTo(used))
          .allSatisfy(produced -> assertThat(produced.samePayload()).isTrue());
    }
  }

  @Test
  void unusualConnectionsWillDo() throws Exception {
    exercise(database.hostile());
  }

  @Test
  void b62_aPoolWithoutAutoCommitWillDo() throws Exception {
    try (HikariDataSource pool = pool(database.dataSource(), 3, false)) {
      exercise(pool);
    }
    try (HikariDataSource pool = pool(database.hostile(), 3, true)) {
      exercise(pool);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "defaultRowFetchSize=7",
        "preferQueryMode=simple",
        "prepareThreshold=1",
        "prepareThreshold=0",
        "autosave=always",
        "binaryTransfer=false",
        "options=-c%20default_transaction_isolation=serializable",
        "preferQueryMode=extendedForPrepared"
      })
  void everySettingOfTheDriverWillDo(String setting) throws Exception {
    exercise(withUrl(setting));
  }

  @Test
  void b60_aDefaultIsolationOfSerializableNeverShows() throws Exception {
    StreamInfo stream = lab.register();
    DataSource source = withUrl("options=-c%20default_transaction_isolation=serializable");
    try (HikariDataSource pool = pool(source, 9, true);
        ProduceLab on = new ProduceLab(database, pool)) {
      inThreads(
          8,
          t -> {
            for (int i = 0; i < 50; i++) {
              on.producer(stream).produce(json("1"));
              on.producer(stream).produceAll(numbered(i % 5 == 0 ? MANY : 5));
            }
          });
    }
    assertThat(lab.count(stream)).isEqualTo(8 * (50 + 10 * MANY + 40 * 5));
  }

  private interface Work {
    void run(int thread) throws Exception;
  }

  private void inThreads(int count, Work work) throws Exception {
    List<CompletableFuture<Void>> all = new ArrayList<>();
    for (int t = 0; t < count; t++) {
      int thread = t;
      all.add(
          CompletableFuture.runAsync(
              () -> {
                try {
                  work.run(thread);
                } catch (Exception e) {
                  throw new IllegalStateException(e);
                }
              },
              threads));
    }
    CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(120, SECONDS);
  }

  @Test
  void sixtyFourThreadsCommitTogether() throws Exception {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPartitionSize(1_000));
    Set<Long> ids = ConcurrentHashMap.newKeySet();
    try (HikariDataSource pool = pool(database.dataSource(), 4, true);
        ProduceLab on = new ProduceLab(database, pool)) {
      inThreads(
          64,
          t -> {
            for (int i = 0; i < 100; i++) {
              // a producer for each call: it's the name that they share
              assertThat(
                      ids.add(
                          on.producer(stream).produce(json(Integer.toString(t * 100 + i))).id()))
                  .isTrue();
            }
          });
    }
    assertThat(ids).hasSize(6_400);
    assertThat(lab.query("SELECT id FROM " + lab.log(stream), row -> row.getLong(1)))
        .containsExactlyInAnyOrderElementsOf(ids);
    assertThat(lab.number("SELECT count(DISTINCT xmin::text) FROM " + lab.log(stream)))
        .isLessThan(6_400 / 4);
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 50, MANY, 2_000, 13_108})
  void missingPartitionsAreHealed(int count) {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPartitionSize(100));
    lab.number("SELECT setval('" + lab.log(stream) + "_id_seq', 10000000)");
    List<Produced> produced =
        count == 1
            ? List.of(lab.producer(stream).produce(json("0")))
            : lab.producer(stream).produceAll(numbered(count));
    assertThat(produced).hasSize(count);
    assertThat(lab.count(stream)).isEqualTo(count);
  }

  @Test
  void manyWritersFindMissingPartitionsAtOnce() throws Exception {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPartitionSize(100));
    try (HikariDataSource pool = pool(database.dataSource(), 20, true);
        ProduceLab on = new ProduceLab(database, pool)) {
      inThreads(
          8,
          t -> {
            for (int i = 0; i < 6; i++) {
              on.producer(stream).produceAll(numbered(10));
              on.producer(stream).produceAll(numbered(MANY));
              try (Connection connection = pool.getConnection()) {
                connection.setAutoCommit(false);
                on.producer(stream).in(connection).produceAll(numbered(10));
                on.producer(stream).in(connection).produceAll(numbered(10));
                connection.commit();
              }
            }
          });
    }
    assertThat(lab.count(stream)).isEqualTo(8 * 6 * (30 + MANY));
    assertThat(database.deadlocks()).isEmpty();
  }

  @Test
  void aFewMessagesArePreparedOnTheServer() throws SQLException {
    StreamInfo stream = lab.register();
    try (Connection connection = lab.connect()) {
      for (int i = 0; i < 8; i++) {
        lab.producer(stream).in(connection).produce(json("1"));
      }
      assertThat(
              value(
                  connection,
                  "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%INSERT%message_log_%'"))
          .isEqualTo("1");
    }
  }

  @Test
  void aFewMessagesTakeOneRoundTrip() throws Exception {
    StreamInfo stream = lab.register();
    PGSimpleDataSource direct = (PGSimpleDataSource) withUrl("sslmode=disable");
    try (CountingProxy proxy =
        new CountingProxy(direct.getServerNames()[0], direct.getPortNumbers()[0])) {
      PGSimpleDataSource source = (PGSimpleDataSource) withUrl("sslmode=disable");
      source.setServerNames(new String[] {"localhost"});
      source.setPortNumbers(new int[] {proxy.port()});
      try (HikariDataSource pool = pool(source, 1, true);
          SqlStreams on =
              SqlStreams.builder(pool)
                  .schema(database.schema())
                  // else consumers are told now and then
                  .notifications(Notifications.NONE)
                  .build()) {
        Producer<RawPayload> producer = on.stream(stream.name()).producer();
        producer.produce(json("1"));
        long before = proxy.roundTrips();
        for (int i = 0; i < 10; i++) {
          producer.produce(json("1"));
          producer.produceAll(numbered(50));
        }
        assertThat(proxy.roundTrips() - before).isEqualTo(20);
        before = proxy.roundTrips();
        for (int i = 0; i < 10; i++) {
          producer.produceAll(withKeys("few" + i, 50));
        }
        assertThat(proxy.roundTrips() - before).as("new keys cost none").isEqualTo(10);
        before = proxy.roundTrips();
        producer.produceAll(withKeys("few0", 50));
        assertThat(proxy.roundTrips() - before).as("a look at the originals").isEqualTo(2);
        before = proxy.roundTrips();
        producer.produceAll(withKeys("many", MANY));
        assertThat(proxy.roundTrips() - before).isEqualTo(4);
        try (Connection connection = pool.getConnection()) {
          connection.setAutoCommit(false);
          producer.in(connection).produce(json("1"));
          before = proxy.roundTrips();
          for (int i = 0; i < 10; i++) {
            producer.in(connection).produce(json("1"));
          }
          assertThat(proxy.roundTrips() - before).isEqualTo(10);
          before = proxy.roundTrips();
          producer.in(connection).produceAll(numbered(MANY));
          assertThat(proxy.roundTrips() - before).isEqualTo(4);
          connection.commit();
        }
      }
    }
  }

  @Test
  void theFencesLockIsHeldBeforeTheFirstIdIsDrawn() throws Exception {
    StreamInfo stream = lab.register();
    long before = lab.number("SELECT last_value FROM " + lab.log(stream) + "_id_seq");
    try (Connection blocker = lab.connect()) {
      blocker.setAutoCommit(false);
      execute(blocker, "LOCK TABLE ONLY " + lab.log(stream) + " IN SHARE MODE");
      CompletableFuture<List<Produced>> few =
          CompletableFuture.supplyAsync(
              () -> lab.producer(stream).produceAll(numbered(10)), threads);
      CompletableFuture<List<Produced>> many =
          CompletableFuture.supplyAsync(
              () -> lab.producer(stream).produceAll(numbered(MANY)), threads);
      List<CompletableFuture<List<Produced>>> keyed = new ArrayList<>();
      for (int count : new int[] {10, MANY}) {
        keyed.add(
            CompletableFuture.supplyAsync(
                () -> lab.producer(stream).produceAll(withKeys("k" + count, count)), threads));
      }
      Await.until(
          "all four wait for the lock",
          () ->
              lab.number(
                      "SELECT count(*) FROM pg_locks WHERE relation = '"
                          + lab.log(stream)
                          + "'::regclass AND mode = 'RowExclusiveLock' AND NOT granted")
                  == 4);
      assertThat(lab.number("SELECT last_value FROM " + lab.log(stream) + "_id_seq"))
          .isEqualTo(before);
      blocker.rollback();
      assertThat(few.get(10, SECONDS)).hasSize(10);
      assertThat(many.get(10, SECONDS)).hasSize(MANY);
      for (CompletableFuture<List<Produced>> each : keyed) {
        assertThat(each.get(10, SECONDS)).extracting(Produced::duplicate).containsOnly(false);
      }
    }
  }

  /**
   * Whoever breaks the connection: the messages are there once or not at all, and the exception
   * fits.
   */
  @ParameterizedTest
  @ValueSource(ints = {3, MANY})
  void aBrokenConnectionNeverDoublesAMessage(int count) throws Exception {
    StreamInfo stream = lab.register();
    int written = 0;
    int unknown = 0;
    int failed = 0;
    try (HikariDataSource pool = pool(database.dataSource(), 2, true);
        ProduceLab on = new ProduceLab(database, pool)) {
      CompletableFuture<Void> killer =
          CompletableFuture.runAsync(
              () -> {
                for (int i = 0; i < 40; i++) {
                  // in the middle of a write, or between two
                  lab.query(
                      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND application_name = '"
                          + database.schema()
                          + "'",
                      row -> row.getBoolean(1));
                  LockSupport.parkNanos(5_000_000);
                }
              },
              threads);
      while (!killer.isDone()) {
        try {
          on.producer(stream).produceAll(numbered(count));
          written++;
        } catch (OutcomeUnknownException e) {
          unknown++;
        } catch (DatabaseException e) {
          assertThat(e.code()).isEqualTo(ErrorCode.DATABASE_UNREACHABLE);
          failed++;
        }
      }
      killer.join();
    }
    lab.producer(stream).produceAll(numbered(count)); // the pool may hold one more that was killed
    written++;
    long rows = lab.count(stream);
    assertThat(rows % count).as("whole or not at all").isZero();
    assertThat(rows / count)
        .as("%d written, %d unknown, %d failed", written, unknown, failed)
        .isBetween((long) written, (long) written + unknown);
    assertThat(unknown + failed).isPositive();
  }

  @Test
  void aConnectionThatIsKilledWhileItWaitsIsUnknownOrFailedByItsWay() throws Exception {
    StreamInfo stream = lab.register();
    lab.producer(stream).produce(json("0"));
    SqlStreamsException few = killed(stream, 3);
    assertThat(few).isInstanceOf(OutcomeUnknownException.class);
    assertThat(few.retryable()).isFalse();
    SqlStreamsException many = killed(stream, MANY);
    assertThat(many.code())
        .as("the commit wasn't sent yet")
        .isEqualTo(ErrorCode.DATABASE_UNREACHABLE);
    assertThat(lab.count(stream)).isEqualTo(1);
    try (Connection connection = lab.connect()) {
      connection.setAutoCommit(false);
      execute(connection, "SELECT 1");
      lab.number(
          "SELECT count(pg_terminate_backend("
              + value(connection, "SELECT pg_backend_pid()")
              + "))");
      assertThatThrownBy(() -> lab.producer(stream).in(connection).produce(json("1")))
          .asInstanceOf(type(DatabaseException.class))
          .extracting(DatabaseException::code)
          .isEqualTo(ErrorCode.DATABASE_UNREACHABLE);
    }
    assertThat(lab.count(stream)).isEqualTo(1);
  }

  private SqlStreamsException killed(StreamInfo stream, int count) throws Exception {
    try (Connection blocker = lab.connect()) {
      blocker.setAutoCommit(false);
      execute(blocker, "LOCK TABLE ONLY " + lab.log(stream) + " IN SHARE MODE");
      CompletableFuture<List<Produced>> blocked =
          CompletableFuture.supplyAsync(
              () -> lab.producer(stream).produceAll(numbered(count)), threads);
      String waiting =
          "FROM pg_locks WHERE relation = '" + lab.log(stream) + "'::regclass AND NOT granted";
      Await.until("it waits for the lock", () -> lab.number("SELECT count(*) " + waiting) > 0);
      lab.number("SELECT count(pg_terminate_backend(pid)) " + waiting);
      try {
        blocked.get(10, SECONDS);
        throw new AssertionError("it was killed");
      } catch (ExecutionException e) {
        return (SqlStreamsException) e.getCause();
      }
    }
  }

  @Test
  void noConnectionMeansNothingWasSent() {
    try (ProduceLab unreachable = new ProduceLab(database, new UnreachableDataSource())) {
      assertThatThrownBy(() -> unreachable.producer("any").produce(json("1")))
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.DATABASE_UNREACHABLE));
    }
  }

  @Test
  void aLockTimeoutIsTriedAgainAndThenSaidSo() throws Exception {
    StreamInfo stream = lab.register();
    DataSource impatient = withUrl("options=-c%20lock_timeout=20ms");
    try (ProduceLab on = new ProduceLab(database, impatient);
        Connection blocker = lab.connect()) {
      on.producer(stream).produce(json("0"));
      blocker.setAutoCommit(false);
      execute(blocker, "LOCK TABLE ONLY " + lab.log(stream) + " IN SHARE MODE");
      for (int count : new int[] {1, MANY}) {
        assertThatThrownBy(() -> on.producer(stream).produceAll(numbered(count)))
            .asInstanceOf(type(DatabaseException.class))
            .extracting(DatabaseException::code)
            .isEqualTo(ErrorCode.CONTENTION);
      }
      blocker.rollback();
      on.producer(stream).produce(json("1"));
    }
    assertThat(lab.payloads(stream)).containsExactly("0", "1");
  }
}
