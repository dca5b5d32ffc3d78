package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ConflictingDeclarationException;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.DestroyNotAllowedException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.GroupNotFoundException;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SqlStreamsTest
class RegistrationIT {
  private static final String TABLES =
      "SELECT relname FROM pg_class WHERE relkind IN ('r', 'p', 'S', 'i', 'I')"
          + " AND relnamespace = to_regnamespace('%s') ORDER BY relname";

  TestDatabase shared;
  TestDatabase database;
  SqlStreams client;

  @BeforeEach
  void freshSchema() {
    database = shared.server().newDatabase("registration");
    client = client(database.dataSource());
  }

  @AfterEach
  void dropSchema() {
    client.close();
    database.dropSchema();
  }

  // ---- many at once: case B23

  @Test
  void twentyThreadsOnFourPoolsRegisterTheSameAtOnce() throws Exception {
    List<HikariDataSource> pools = pools(4, 5);
    ExecutorService threads = Executors.newFixedThreadPool(20);
    try {
      List<SqlStreams> clients = new ArrayList<>();
      pools.forEach(pool -> clients.add(client(pool)));
      for (int round = 0; round < 50; round++) {
        String stream = "s" + round;
        List<GroupInfo> groups =
            together(
                threads,
                20,
                i -> {
                  StreamHandle<?> handle = clients.get(i % 4).stream(stream);
                  handle.register();
                  return handle.group("g").register(GroupConfig.defaults().withStart(Start.HEAD));
                });
        assertThat(new HashSet<>(groups)).hasSize(1);
      }
      assertThat(client.streams()).hasSize(50);
      assertThat(count("stream_config_log")).isEqualTo(50);
      // for each stream its two workers and its group, and the system's three
      assertThat(count("worker_config_log")).isEqualTo(50 * 3 + 3);
      assertThat(count("migration_log")).isEqualTo(51);
    } finally {
      threads.shutdownNow();
      pools.forEach(HikariDataSource::close);
    }
  }

  /**
   * PostgreSQL remembers within a transaction that a name didn't exist: {@code to_regclass} alone
   * says so even after the wait for the one who creates it. Seen as "relation already exists", once
   * in ten runs.
   */
  @Test
  void whoWaitedBehindAnInstallationFindsIt() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(2);
    try (Connection lock = database.dataSource().getConnection()) {
      lock.setAutoCommit(false);
      Sql.execute(
          lock,
          "SELECT pg_advisory_xact_lock(hashtextextended('sqlstreams:"
              + database.schema()
              + "', 0))");
      List<Future<SystemInfo>> both = new ArrayList<>();
      for (int waiting = 1; waiting <= 2; waiting++) {
        HikariDataSource one = pools(1, 1).get(0);
        assertThat(client(one).system().get()).isEmpty();
        both.add(
            threads.submit(
                () -> {
                  try (one) {
                    return client(one).system().register();
                  }
                }));
        while (!value(
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
                    + " AND pid IN (SELECT pid FROM pg_stat_activity WHERE application_name = '{s}')")
            .equals(Integer.toString(waiting))) {
          Thread.onSpinWait();
        }
      }
      lock.rollback();
      assertThat(both.get(1).get()).isEqualTo(both.get(0).get());
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void twentyThreadsInstallAtOnce() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(20);
    try {
      for (int round = 0; round < 10; round++) {
        List<SystemInfo> found =
            together(threads, 20, i -> client(database.dataSource()).system().register());
        assertThat(new HashSet<>(found)).hasSize(1);
        client.system().destroy();
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void ofTwoDifferentDeclarationsAtOnceOneWinsAndTheOtherSaysWhy() throws Exception {
    List<HikariDataSource> pools = pools(4, 5);
    ExecutorService threads = Executors.newFixedThreadPool(20);
    try {
      List<SqlStreams> clients = new ArrayList<>();
      pools.forEach(pool -> clients.add(client(pool)));
      for (int round = 0; round < 20; round++) {
        String stream = "s" + round;
        List<Object> results =
            together(
                threads,
                20,
                i -> {
                  try {
                    return clients.get(i % 4).stream(stream)
                        .register(StreamConfig.defaults().withPartitionSize(1_000 + i % 2))
                        .config()
                        .partitionSize();
                  } catch (ConflictingDeclarationException e) {
                    return e.setting() + " " + e.registered();
                  }
                });
        long won = client.stream(stream).get().orElseThrow().config().partitionSize();
        assertThat(results)
            .hasSize(20)
            .containsOnly(won, "partitionSize " + won)
            .contains(won, "partitionSize " + won);
      }
    } finally {
      threads.shutdownNow();
      pools.forEach(HikariDataSource::close);
    }
  }

  // ---- failures

  @Test
  void aFailureHalfwayLeavesNothing() throws SQLException {
    SqlStreams failing =
        client(FailingDataSource.after("create_system_tables", database.dataSource()));
    assertThatThrownBy(() -> failing.stream("s").register())
        .isInstanceOf(DatabaseException.class)
        .hasMessageContainingAll("register stream \"s\"", "division by zero");
    assertThat(value("SELECT to_regnamespace('" + database.schema() + "') IS NULL")).isEqualTo("t");

    client.system().register();
    List<String> tables = tables();
    for (String script : List.of("create_stream_tables", "create_partition")) {
      SqlStreams failingLater = client(FailingDataSource.after(script, database.dataSource()));
      assertThatThrownBy(() -> failingLater.stream("s").register())
          .isInstanceOf(DatabaseException.class)
          .hasMessageContaining("division by zero");
      assertThat(tables()).isEqualTo(tables);
      assertThat(client.streams()).isEmpty();
      assertThat(count("stream_config_log")).isZero();
      assertThat(count("migration_log")).isEqualTo(1);
    }
    assertThat(client.stream("s").register().name()).isEqualTo("s");
  }

  @Test
  void aFailedDestroyLeavesEverything() throws SQLException {
    client.stream("s").register();
    List<String> tables = tables();
    SqlStreams failing =
        client(FailingDataSource.after("drop_stream_tables", database.dataSource()));
    assertThatThrownBy(() -> failing.stream("s").destroy()).isInstanceOf(DatabaseException.class);
    SqlStreams failingLater =
        client(FailingDataSource.after("drop_system_tables", database.dataSource()));
    assertThatThrownBy(() -> failingLater.system().destroy()).isInstanceOf(DatabaseException.class);
    assertThat(tables()).isEqualTo(tables);
    assertThat(client.streams()).hasSize(1);
  }

  @Test
  void aLockInTheWayIsGivenUpWithAClearError() throws SQLException {
    client.system().register();
    try (Connection other = database.dataSource().getConnection()) {
      other.setAutoCommit(false);
      Sql.execute(
          other, "LOCK TABLE " + database.schema() + ".consumer_group_config IN EXCLUSIVE MODE");
      assertThatThrownBy(() -> client.stream("s").register())
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.CONTENTION);
                assertThat(e.retryable()).isTrue();
                assertThat(e)
                    .hasMessageContainingAll(
                        "register stream \"s\"", "a lock", "end that transaction");
              });
      other.rollback();
    }
    assertThat(client.streams()).isEmpty();
    assertThat(client.stream("s").register().name()).isEqualTo("s");
  }

  // ---- declarations

  @Test
  void anEqualDeclarationWritesNothing() throws SQLException {
    StreamConfig config = StreamConfig.defaults().withMaxPayloadBytes(1_000);
    GroupConfig group = GroupConfig.defaults().withTimeout(Duration.ofSeconds(1));
    client.stream("s").register(config);
    client.stream("s").group("g").register(group);
    List<String> before = versions();

    SqlStreams readOnly =
        client(Sql.withOptions(database.jdbcUrl(), "-c default_transaction_read_only=on"));
    assertThat(readOnly.system().register().schema()).isEqualTo(database.schema());
    assertThat(readOnly.stream("s").register(config))
        .isEqualTo(client.stream("s").get().orElseThrow());
    assertThat(readOnly.stream("s").group("g").register(group))
        .isEqualTo(client.stream("s").group("g").get().orElseThrow());
    // a group's start counts once
    assertThat(readOnly.stream("s").group("g").register(group.withStart(Start.HEAD)).config())
        .isEqualTo(group);

    client.stream("s").register(config);
    client.stream("s").group("g").register(group);
    assertThat(versions()).isEqualTo(before);
  }

  @Test
  void whatCanChangeIsChangedAndRecorded() throws SQLException {
    StreamInfo created = client.stream("s").register();
    StreamInfo changed =
        client.stream("s").register(StreamConfig.defaults().withMaxPayloadBytes(5));
    assertThat(changed)
        .isEqualTo(
            new StreamInfo(
                created.id(),
                "s",
                StreamConfig.defaults().withMaxPayloadBytes(5),
                created.createdAt()))
        .isEqualTo(client.stream("s").get().orElseThrow());
    assertThat(rows("SELECT max_payload_bytes FROM {s}.stream_config_log ORDER BY id"))
        .containsExactly(Integer.toString(StreamConfig.DEFAULT_MAX_PAYLOAD_BYTES), "5");
    assertThat(rows("SELECT updated_at > created_at FROM {s}.stream_config")).containsExactly("t");
  }

  @Test
  void theTimeToLiveOfIdempotencyKeysCanChange() throws SQLException {
    client.stream("s").register();
    StreamConfig longer = StreamConfig.defaults().withIdempotencyKeyTtl(Duration.ofDays(7));
    assertThat(client.stream("s").register(longer).config()).isEqualTo(longer);
    assertThat(client.stream("s").get().orElseThrow().config()).isEqualTo(longer);
    assertThat(rows("SELECT idempotency_key_ttl_ns FROM {s}.stream_config_log ORDER BY id"))
        .containsExactly("86400000000000", "604800000000000");
    Sql.execute(
        database.dataSource(),
        "UPDATE " + database.schema() + ".stream_config SET idempotency_key_ttl_ns = NULL");
    assertThat(client.stream("s").get().orElseThrow().config())
        .as("as a version without this setting has left it")
        .isEqualTo(StreamConfig.defaults());
  }

  @Test
  void whatIsFixedAtCreationIsAConflict() {
    StreamConfig config = StreamConfig.defaults();
    client.stream("s").register(config);
    assertThatThrownBy(() -> client.stream("s").register(config.withPayloadType(PayloadType.BYTEA)))
        .asInstanceOf(type(ConflictingDeclarationException.class))
        .satisfies(
            e -> {
              assertThat(e.setting()).isEqualTo("payloadType");
              assertThat(e.registered()).isEqualTo("JSON");
              assertThat(e.declared()).isEqualTo("BYTEA");
            });
    // the part that could change isn't changed either
    assertThatThrownBy(
            () -> client.stream("s").register(config.withPartitionSize(500).withMaxPayloadBytes(5)))
        .isInstanceOf(ConflictingDeclarationException.class)
        .hasMessageContainingAll("stream \"s\"", "partitionSize", "1000000", "500");
    assertThat(client.stream("s").get().orElseThrow().config()).isEqualTo(config);
  }

  @Test
  void aGroupsSettingsAreStoredSparselyAndRecorded() throws SQLException {
    client.stream("s").register();
    ConsumerGroup<?> group = client.stream("s").group("g");
    GroupInfo created = group.register();
    GroupConfig config =
        GroupConfig.defaults()
            .withTimeout(Duration.ofMillis(1_500))
            .withRetry(RetryPolicy.defaults().withMaxRetries(9));
    assertThat(group.register(config))
        .isEqualTo(new GroupInfo(created.id(), "g", config, List.of(), created.createdAt()))
        .isEqualTo(group.get().orElseThrow());
    assertThat(group.register().config()).isEqualTo(GroupConfig.defaults());
    assertThat(
            rows(
                "SELECT log.metadata, log.target_instances FROM {s}.worker_config_log AS log"
                    + " JOIN {s}.worker_config AS worker ON worker.id = log.worker_config_id"
                    + " WHERE worker.consumer_group_id IS NOT NULL ORDER BY log.id"))
        .containsExactly("{} -1", "{\"timeout_ns\": 1500000000, \"max_retries\": 9} -1", "{} -1");
    assertThat(
            rows(
                "SELECT name, metadata, target_instances, consumer_group_id, system_id IS NULL,"
                    + " stream_id IS NULL FROM {s}.worker_config WHERE consumer_group_id IS NOT NULL"))
        .containsExactly("consumer {} -1 " + created.id() + " t t");
  }

  @Test
  void aGroupBeginsWhereItSays() throws SQLException {
    StreamInfo stream = client.stream("s").register();
    assertThat(client.stream("s").group("empty").register(at(Start.HEAD)).config().start())
        .isEqualTo(Start.HEAD);
    Sql.execute(
        database.dataSource(),
        "INSERT INTO "
            + database.schema()
            + ".message_log_1 (schema_version, payload) SELECT 1, '{}' FROM generate_series(1, 7)");
    client.stream("s").group("all").register(at(Start.BEGINNING));
    client.stream("s").group("new").register(at(Start.HEAD));
    // a later declaration doesn't move it
    client.stream("s").group("all").register(at(Start.HEAD));
    assertThat(client.stream("s").group("all").get().orElseThrow().config().start())
        .isEqualTo(Start.BEGINNING);
    assertThat(
            rows(
                "SELECT name, start_position, claimed, committed, settled_head FROM {s}.consumer_group_cursor_"
                    + stream.id()
                    + " JOIN {s}.consumer_group_config ON id = consumer_group_id ORDER BY name"))
        .containsExactly("all beginning 0 0 0", "empty head 0 0 0", "new head 7 7 0");
  }

  @Test
  void aSequenceThatCachesIdsIsRepairedOrRefused() throws SQLException {
    client.stream("s").register();
    String sequence = database.schema() + ".message_log_1_id_seq";
    Sql.execute(database.dataSource(), "ALTER SEQUENCE " + sequence + " CACHE 20");
    try (Role role = new Role()) {
      assertThatThrownBy(() -> client(role.dataSource()).stream("s").register())
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.PERMISSION_DENIED);
                assertThat(e)
                    .hasMessageContainingAll("message_log_1_id_seq", "CACHE 20", "CACHE 1");
              });
    }
    client.stream("s").register();
    assertThat(
            value("SELECT seqcache FROM pg_sequence WHERE seqrelid = '" + sequence + "'::regclass"))
        .isEqualTo("1");
  }

  // ---- rights: case B53

  @Test
  void whatIsRegisteredNeedsNoRightToCreate() throws SQLException {
    client.stream("s").register();
    client.stream("s").group("g").register();
    try (Role role = new Role()) {
      SqlStreams restricted = client(role.dataSource());
      assertThat(restricted.system().register().version()).isEqualTo(1);
      assertThat(restricted.stream("s").register()).isEqualTo(client.stream("s").register());
      restricted.stream("s").group("g").register();
      // a group is rows alone
      restricted.stream("s").group("h").register();
      assertThatThrownBy(() -> restricted.stream("t").register())
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.PERMISSION_DENIED);
                assertThat(e).hasMessageContaining(database.schema());
              });
      assertThat(client.streams()).extracting(StreamInfo::name).containsExactly("s");
    }
  }

  @Test
  void aRoleThatMayNotCreateASchemaIsToldSo() throws SQLException {
    try (Role role = new Role()) {
      assertThatThrownBy(() -> client(role.dataSource()).system().register())
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.PERMISSION_DENIED));
    }
  }

  // ---- names: case B51

  @Test
  void longAndOddNamesWorkFully() throws SQLException {
    String sixty = "n".repeat(60);
    List<String> names =
        List.of(
            "x",
            "a.b",
            "a-b",
            "select",
            "7up",
            "A",
            "a",
            sixty + "1",
            sixty + "2",
            "m".repeat(47),
            "m".repeat(48),
            "m".repeat(55),
            "m".repeat(63),
            "m".repeat(64),
            "m".repeat(200));
    for (String name : names) {
      client.stream(name).register();
      client.stream(name).group(name).register();
    }
    assertThat(client.streams())
        .extracting(StreamInfo::name)
        .containsExactlyInAnyOrderElementsOf(names);
    for (String name : names) {
      assertThat(client.stream(name).groups()).extracting(GroupInfo::name).containsExactly(name);
      client.stream(name).destroy();
    }
    assertThat(client.streams()).isEmpty();
  }

  @Test
  void badNamesAreRefusedBeforeAnything() throws SQLException {
    List<String> bad =
        List.of(
            "",
            " ",
            "A\"b",
            "x; drop table y",
            "a ",
            "\u00e9".repeat(32),
            "\ud83d\ude80",
            "a\u0000",
            "a\ud800",
            "-a",
            "y".repeat(201));
    for (String name : bad) {
      assertThatThrownBy(() -> client.stream(name).register())
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("1 to 200");
    }
    assertThat(value("SELECT to_regnamespace('" + database.schema() + "') IS NULL")).isEqualTo("t");
    client.stream("s").register();
    client.stream("s").group("g").register();
    for (String name : bad) {
      assertThatThrownBy(() -> client.stream("s").group(name).register())
          .isInstanceOf(InvalidInputException.class);
      assertThatThrownBy(() -> client.stream("s").rename(name))
          .isInstanceOf(InvalidInputException.class);
      assertThatThrownBy(() -> client.stream("s").group("g").rename(name))
          .isInstanceOf(InvalidInputException.class);
      assertThatThrownBy(() -> client.system().rename(name))
          .isInstanceOf(InvalidInputException.class);
      assertThat(client.stream(name).get()).isEmpty();
      assertThat(client.stream("s").group(name).get()).isEmpty();
      assertThatThrownBy(() -> client.stream(name).groups())
          .isInstanceOf(StreamNotFoundException.class);
      client.stream(name).destroy();
      client.stream("s").group(name).destroy();
    }
  }

  @Test
  void badSchemaNamesAreRefusedWhenTheClientIsBuilt() {
    for (String schema :
        List.of("", "A", "1a", "a-b", "My App", "a\"b", "x; drop schema y", "a".repeat(41))) {
      SqlStreamsBuilder builder = SqlStreams.builder(database.dataSource()).schema(schema);
      assertThatThrownBy(builder::build)
          .asInstanceOf(type(InvalidInputException.class))
          .satisfies(e -> assertThat(e.field()).isEqualTo("schema"));
    }
  }

  // ---- two installations: case B52

  @Test
  void twoInstallationsShareNothingAndNeedNoSearchPath() throws SQLException {
    TestDatabase second = shared.server().newDatabase("registration_b");
    try (SqlStreams a = client(database.hostile());
        SqlStreams b =
            SqlStreams.builder(second.hostile())
                .schema(second.schema())
                .allowDestroy(true)
                .build();
        Connection lock = database.dataSource().getConnection()) {
      a.stream("s").register();
      a.stream("s").group("g").register(at(Start.HEAD));
      // who changes one installation isn't in the way of the other
      lock.setAutoCommit(false);
      Sql.execute(
          lock,
          "SELECT pg_advisory_xact_lock(hashtextextended('sqlstreams:"
              + database.schema()
              + "', 0))");
      b.stream("s").register(StreamConfig.defaults().withPartitionSize(500));
      b.stream("t").register();
      b.stream("s").group("h").register();
      lock.rollback();

      assertThat(a.streams()).extracting(StreamInfo::name).containsExactly("s");
      assertThat(a.stream("s").groups()).extracting(GroupInfo::name).containsExactly("g");
      assertThat(b.streams()).extracting(StreamInfo::name).containsExactly("s", "t");
      assertThat(b.stream("s").groups()).extracting(GroupInfo::name).containsExactly("h");
      assertThat(b.system().rename("other").name()).isEqualTo("other");
      assertThat(a.system().list())
          .contains(a.system().get().orElseThrow(), b.system().get().orElseThrow());
      a.stream("s").rename("r");
      a.stream("r").group("g").rename("k");
      a.stream("r").group("k").destroy();
      a.stream("r").destroy();
      a.system().destroy();
      assertThat(a.system().get()).isEmpty();
      assertThat(b.streams()).hasSize(2);
      assertThat(a.system().list())
          .doesNotContainNull()
          .extracting(SystemInfo::schema)
          .contains(second.schema())
          .doesNotContain(database.schema());
      b.system().destroy();
    } finally {
      second.dropSchema();
    }
  }

  // ---- rename, get, list, destroy

  @Test
  void whatIsNotThereIsEmptyOrNotFound() throws SQLException {
    assertThat(client.system().get()).isEmpty();
    assertThat(client.stream("s").get()).isEmpty();
    assertThatThrownBy(() -> client.streams()).isInstanceOf(NotInstalledException.class);
    assertThatThrownBy(() -> client.system().rename("x")).isInstanceOf(NotInstalledException.class);
    assertThatThrownBy(() -> client.stream("s").groups()).isInstanceOf(NotInstalledException.class);
    assertThatThrownBy(() -> client.stream("s").group("g").register())
        .isInstanceOf(NotInstalledException.class);
    client.system().destroy();
    client.stream("s").destroy();
    assertThat(value("SELECT to_regnamespace('" + database.schema() + "') IS NULL")).isEqualTo("t");

    client.system().register();
    assertThat(client.streams()).isEmpty();
    assertThatThrownBy(() -> client.stream("s").group("g").register())
        .isInstanceOf(StreamNotFoundException.class)
        .hasMessageContaining("\"s\"");
    assertThatThrownBy(() -> client.stream("s").group("g").get())
        .isInstanceOf(StreamNotFoundException.class);
    assertThatThrownBy(() -> client.stream("s").group("g").destroy())
        .isInstanceOf(StreamNotFoundException.class);
    assertThatThrownBy(() -> client.stream("s").rename("t"))
        .isInstanceOf(StreamNotFoundException.class);
    client.stream("s").destroy();

    client.stream("s").register();
    assertThat(client.stream("s").group("g").get()).isEmpty();
    assertThat(client.stream("s").groups()).isEmpty();
    assertThatThrownBy(() -> client.stream("s").group("g").rename("h"))
        .isInstanceOf(GroupNotFoundException.class);
    assertThatThrownBy(() -> client.stream("s").group("g").consume(m -> Outcome.done()))
        .isInstanceOf(GroupNotFoundException.class);
    client.stream("s").group("g").destroy();
  }

  @Test
  void renamesKeepTheRest() throws SQLException {
    StreamInfo stream = client.stream("s").register();
    client.stream("taken").register();
    GroupInfo group = client.stream("s").group("g").register();
    client.stream("s").group("taken").register();

    assertThat(client.stream("s").rename("S"))
        .isEqualTo(new StreamInfo(stream.id(), "S", stream.config(), stream.createdAt()));
    assertThat(client.stream("s").get()).isEmpty();
    assertThat(client.stream("S").rename("S").name()).isEqualTo("S");
    assertThatThrownBy(() -> client.stream("S").rename("taken"))
        .asInstanceOf(type(InvalidInputException.class))
        .satisfies(e -> assertThat(e.field()).isEqualTo("name"));
    assertThat(client.stream("S").group("g").rename("h"))
        .isEqualTo(new GroupInfo(group.id(), "h", group.config(), List.of(), group.createdAt()));
    assertThat(client.stream("S").group("h").rename("h").name()).isEqualTo("h");
    assertThatThrownBy(() -> client.stream("S").group("h").rename("taken"))
        .asInstanceOf(type(InvalidInputException.class))
        .satisfies(e -> assertThat(e.field()).isEqualTo("name"));
    assertThat(client.system().rename("Billing").name()).isEqualTo("Billing");
    assertThat(client.system().get().orElseThrow().schema()).isEqualTo(database.schema());
    assertThat(rows("SELECT name FROM {s}.stream_config_log ORDER BY id"))
        .containsExactly("s", "taken", "S");
  }

  @Test
  void destroyingAGroupTakesItsRowsAndNoOthers() throws SQLException {
    client.stream("s").register();
    client.stream("s").group("g").register();
    client.stream("s").group("h").register();
    for (int group = 1; group <= 2; group++) {
      String values = group + ", 1, ";
      Sql.execute(
          database.dataSource(),
          """
          INSERT INTO {s}.claim_lease_1 (token, consumer_group_id, low, high, expires_at)
          VALUES (gen_random_uuid(), {g}, 0, 1, now());
          INSERT INTO {s}.exception_queue_1 (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)
          VALUES ({v}'ready', 'parallel', 0, now());
          INSERT INTO {s}.delivery_log_1 (consumer_group_id, message_id, attempt, status)
          VALUES ({v}0, 'failure');
          """
              .replace("{s}", database.schema())
              .replace("{g}", Integer.toString(group))
              .replace("{v}", values));
    }
    client.stream("s").group("g").destroy();
    for (String table :
        List.of(
            "claim_lease_1",
            "exception_queue_1",
            "delivery_log_1",
            "consumer_group_cursor_1",
            "worker_config")) {
      assertThat(
              rows(
                  "SELECT consumer_group_id FROM {s}."
                      + table
                      + " WHERE consumer_group_id IS NOT NULL"))
          .as(table)
          .containsExactly("2");
    }
    assertThat(client.stream("s").groups()).extracting(GroupInfo::name).containsExactly("h");
  }

  @Test
  void destroyingLeavesNoTableBehind() throws SQLException {
    client.system().register();
    List<String> before = tables();
    client.stream("s").register();
    client.stream("s").group("g").register();
    // a partition that the janitor has taken off and not dropped yet
    Sql.execute(
        database.dataSource(),
        "ALTER TABLE {s}.message_log_1 DETACH PARTITION {s}.message_log_1_0"
            .replace("{s}", database.schema()));
    client.stream("s").destroy();
    assertThat(tables()).isEqualTo(before);
    for (String table : List.of("stream_config", "stream_config_log", "consumer_group_config")) {
      assertThat(count(table)).as(table).isZero();
    }
    for (String table : List.of("worker_config", "worker_config_log")) {
      assertThat(count(table)).as(table + ": the system's are left").isEqualTo(3);
    }
    client.stream("s").register();
    client.system().destroy();
    assertThat(value("SELECT to_regnamespace('" + database.schema() + "') IS NULL")).isEqualTo("t");
  }

  @Test
  void aSchemaThatHoldsSomethingOfOthersStays() throws SQLException {
    Sql.execute(
        database.dataSource(),
        "CREATE SCHEMA {s}; CREATE TABLE {s}.theirs (id int)".replace("{s}", database.schema()));
    client.stream("s").register();
    client.system().destroy();
    assertThat(tables()).containsExactly("theirs");
    assertThat(client.stream("s").register().id()).isEqualTo(1);
  }

  @Test
  void destroyingMustBeAllowed() throws SQLException {
    SqlStreams careful =
        SqlStreams.builder(database.dataSource()).schema(database.schema()).build();
    careful.stream("s").register();
    careful.stream("s").group("g").register();
    List<String> before = tables();
    assertThatThrownBy(() -> careful.stream("s").group("g").destroy())
        .isInstanceOf(DestroyNotAllowedException.class);
    assertThatThrownBy(() -> careful.stream("s").destroy())
        .isInstanceOf(DestroyNotAllowedException.class);
    assertThatThrownBy(() -> careful.system().destroy())
        .isInstanceOf(DestroyNotAllowedException.class);
    assertThat(tables()).isEqualTo(before);
    assertThat(careful.stream("s").group("g").get()).isPresent();
  }

  // ---- what the tests share

  private interface Indexed<R> {
    R at(int index) throws Exception;
  }

  private static <R> List<R> together(ExecutorService threads, int count, Indexed<R> work)
      throws Exception {
    CyclicBarrier start = new CyclicBarrier(count);
    List<Callable<R>> calls = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      int index = i;
      calls.add(
          () -> {
            start.await();
            return work.at(index);
          });
    }
    List<R> results = new ArrayList<>();
    for (Future<R> future : threads.invokeAll(calls)) {
      try {
        results.add(future.get());
      } catch (ExecutionException e) {
        throw new AssertionError("one of them failed", e.getCause());
      }
    }
    return results;
  }

  private List<HikariDataSource> pools(int count, int size) {
    List<HikariDataSource> pools = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      HikariConfig config = new HikariConfig();
      config.setDataSource(database.dataSource());
      config.setMaximumPoolSize(size);
      pools.add(new HikariDataSource(config));
    }
    return pools;
  }

  private SqlStreams client(DataSource source) {
    return SqlStreams.builder(source).schema(database.schema()).allowDestroy(true).build();
  }

  private static GroupConfig at(Start start) {
    return GroupConfig.defaults().withStart(start);
  }

  private List<String> tables() throws SQLException {
    return rows(TABLES.formatted(database.schema()));
  }

  /** The physical versions of every row that a declaration may write. */
  private List<String> versions() throws SQLException {
    List<String> versions = new ArrayList<>();
    for (String table :
        List.of(
            "system_config",
            "stream_config",
            "stream_config_log",
            "consumer_group_config",
            "worker_config",
            "worker_config_log",
            "migration_log",
            "consumer_group_cursor_1")) {
      versions.addAll(
          rows("SELECT '" + table + "', ctid, xmin FROM {s}." + table + " ORDER BY ctid"));
    }
    assertThat(Set.copyOf(versions)).hasSizeGreaterThan(8);
    return versions;
  }

  private long count(String table) throws SQLException {
    return Long.parseLong(value("SELECT count(*) FROM {s}." + table));
  }

  private List<String> rows(String sql) throws SQLException {
    return Sql.rows(database.dataSource(), sql.replace("{s}", database.schema()));
  }

  private String value(String sql) throws SQLException {
    return Sql.value(database.dataSource(), sql.replace("{s}", database.schema()));
  }

  /** A role that may read and write rows, and create nothing. */
  private final class Role implements AutoCloseable {
    private final String name = "r" + database.schema();

    Role() throws SQLException {
      Sql.execute(database.dataSource(), "CREATE ROLE " + name);
      if (value("SELECT to_regnamespace('" + database.schema() + "') IS NOT NULL").equals("t")) {
        Sql.execute(
            database.dataSource(),
            """
            GRANT USAGE ON SCHEMA {s} TO {r};
            GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA {s} TO {r};
            GRANT USAGE ON ALL SEQUENCES IN SCHEMA {s} TO {r};
            """
                .replace("{s}", database.schema())
                .replace("{r}", name));
      }
    }

    DataSource dataSource() {
      return Sql.withOptions(database.jdbcUrl(), "-c role=" + name);
    }

    @Override
    public void close() throws SQLException {
      Sql.execute(database.dataSource(), "DROP OWNED BY " + name + "; DROP ROLE " + name);
    }
  }
}
