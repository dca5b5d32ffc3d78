package io.sqlstreams.internal.access;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.BatchOutcome;
import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Consumption;
import io.sqlstreams.HeadChange;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamHandle;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.AccessRole;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Page;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Each kind of role with the grants that are printed for it, and nothing else. */
@SqlStreamsTest
class PrivilegesIT {
  private static final Map<AccessRole, HikariDataSource> POOLS = new EnumMap<>(AccessRole.class);
  private static final Map<AccessRole, SqlStreams> CLIENTS = new EnumMap<>(AccessRole.class);

  static TestDatabase database;

  @BeforeAll
  static void install() {
    execute("REVOKE CONNECT ON DATABASE postgres FROM PUBLIC");
    for (AccessRole role : AccessRole.values()) {
      execute("CREATE ROLE \"" + name(role) + "\" LOGIN");
    }
    grant(AccessRole.INSTALLER);
    client(AccessRole.INSTALLER).stream("orders").register();
    for (AccessRole role : AccessRole.values()) {
      if (role != AccessRole.INSTALLER) {
        grant(role);
      }
    }
  }

  @AfterAll
  static void drop() {
    CLIENTS.values().forEach(SqlStreams::close);
    POOLS.values().forEach(HikariDataSource::close);
    database.dropSchema();
    for (AccessRole role : AccessRole.values()) {
      execute("DROP OWNED BY \"" + name(role) + "\"");
    }
    for (AccessRole role : AccessRole.values()) {
      execute("DROP ROLE \"" + name(role) + "\"");
    }
    execute("GRANT CONNECT ON DATABASE postgres TO PUBLIC");
  }

  @Test
  void b53_theApplicationDoesEverythingWithoutTheRightToCreateAnything() throws Exception {
    SqlStreams app = client(AccessRole.APPLICATION);
    // registered after the grants
    client(AccessRole.INSTALLER).stream("later").register();
    for (String name : List.of("orders", "later")) {
      StreamHandle<RawPayload> stream = app.stream(name);
      stream.register();
      ConsumerGroup<RawPayload> group = stream.group("everything");
      group.register(
          GroupConfig.defaults()
              .withRetry(RetryPolicy.defaults().withMaxRetries(0))
              .withConcurrency(Concurrency.EXCLUSIVE));
      group.register(
          GroupConfig.defaults()
              .withBindings("*")
              .withRetry(RetryPolicy.defaults().withMaxRetries(0)));
      produceInEveryForm(app, stream);
      try (Consumption running =
          group.consume(
              message -> "eu".equals(message.routingKey()) ? Outcome.dead("no") : Outcome.done(),
              Consumer.QUICK)) {
        awaitHandled(group);
        assertThat(group.snapshot().exceptions().dead()).isEqualTo(1);
      }
      assertThat(group.exceptions().list(ExceptionFilter.all(), Page.first(10))).hasSize(1);
      assertThat(group.exceptions().redrive(ExceptionFilter.all(), 10)).isEqualTo(1);
      try (Consumption running =
          group.consumeTransactional((message, connection) -> Outcome.done(), Consumer.QUICK)) {
        awaitHandled(group);
        assertThat(group.snapshot().exceptions().dead()).isZero();
      }
      group.rewind(Start.beginning());
      try (Consumption running =
          group.consumeBatches(messages -> BatchOutcome.done(), Consumer.QUICK)) {
        awaitHandled(group);
      }
      assertThat(stream.message(1)).isPresent();
      stream.versions();
      stream.sweepHeads();
      group.leases();
      group.bindings();
      group.rename("renamed");
      try (SqlStreams destroyer =
          SqlStreams.builder(POOLS.get(AccessRole.APPLICATION))
              .schema(database.schema())
              .allowDestroy(true)
              .build()) {
        destroyer.stream(name).group("renamed").destroy();
      }
    }
  }

  private static void awaitHandled(ConsumerGroup<RawPayload> group) {
    Await.until("all are handled", () -> group.snapshot().lag().messages() == 0);
  }

  private static void produceInEveryForm(SqlStreams client, StreamHandle<RawPayload> stream)
      throws Exception {
    Producer<RawPayload> producer = stream.producer();
    RawPayload payload = RawPayload.of("{}");
    producer.produce(payload);
    producer.produce(payload, ProduceOptions.defaults().withRoutingKey("eu"));
    producer.produceAsync(payload).get();
    List<Outgoing<RawPayload>> many = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      many.add(Outgoing.of(payload, ProduceOptions.key("k" + i).withCompaction()));
    }
    producer.produceAll(many);
    producer.produceAll(many.subList(0, 3));
    ProduceOptions once = ProduceOptions.defaults().withIdempotencyKey("once");
    producer.produce(payload, once);
    assertThat(producer.produce(payload, once).duplicate()).isTrue();
    producer.produce(payload, ProduceOptions.key("last").withCompaction());
    producer.produceTombstone(ProduceOptions.key("gone").withCompaction());
    client.inTransaction(connection -> producer.in(connection).produce(payload));
    stream.key("last").change(head -> HeadChange.to(payload));
  }

  @Test
  void b53_whatNeedsTheOwnerIsRefusedByName() {
    assertDenied(
        () -> client(AccessRole.APPLICATION).stream("new").register(),
        "schema " + database.schema(),
        "has no CREATE on");
  }

  @Test
  void b53_aPartitionBorderIsCrossedWithAMaintenanceRole() {
    client(AccessRole.INSTALLER).stream("border")
        .register(StreamConfig.defaults().withPartitionSize(100));
    grant(AccessRole.PRODUCER);
    Producer<RawPayload> application = client(AccessRole.APPLICATION).stream("border").producer();
    Producer<RawPayload> producer = client(AccessRole.PRODUCER).stream("border").producer();
    produce(application, 100);
    produce(producer, 100);
    String missing =
        "message_log_"
            + client(AccessRole.MONITOR).stream("border").get().orElseThrow().id()
            + "_2";
    for (Producer<RawPayload> none : List.of(application, producer)) {
      assertDenied(
          () -> none.produce(RawPayload.of("{}")),
          "has no CREATE on schema " + database.schema(),
          missing + " is missing",
          "--role maintenance",
          "manager().run()");
    }
    // as the janitor does ahead
    produce(client(AccessRole.MAINTENANCE).stream("border").producer(), 1);
    produce(application, 20);
    produce(producer, 20);
    assertThat(
            strings(
                "SELECT DISTINCT pg_get_userbyid(relowner) FROM pg_class WHERE relnamespace = '"
                    + database.schema()
                    + "'::regnamespace"))
        .containsExactly(name(AccessRole.INSTALLER));
  }

  @Test
  void b53_aProducerMayOnlySend() throws Exception {
    client(AccessRole.INSTALLER).stream("sent").register();
    grant(AccessRole.PRODUCER);
    SqlStreams producer = client(AccessRole.PRODUCER);
    StreamHandle<RawPayload> stream = producer.stream("sent");
    produceInEveryForm(producer, stream);
    assertDenied(() -> stream.group("g").register(), "has no", "INSERT", "consumer_group_config");
    client(AccessRole.APPLICATION).stream("sent").group("seen").register();
    assertDenied(
        () -> stream.group("seen").consume(message -> Outcome.done()),
        "has no SELECT",
        database.schema() + ".consumer_group_config");
    assertThatThrownBy(
            () ->
                producer.inTransaction(
                    c -> {
                      try (Statement statement = c.createStatement()) {
                        return statement.executeUpdate(
                            "DELETE FROM " + database.schema() + ".idempotency_key_1");
                      }
                    }))
        .hasMessageContaining("permission denied");
  }

  @Test
  void b53_aMonitorMayOnlyLook() {
    SqlStreams monitor = client(AccessRole.MONITOR);
    StreamHandle<RawPayload> stream = monitor.stream("orders");
    ConsumerGroup<RawPayload> watched =
        client(AccessRole.APPLICATION).stream("orders").group("watched");
    watched.register();
    assertThat(monitor.streams()).isNotEmpty();
    assertThat(stream.groups()).isNotEmpty();
    ConsumerGroup<RawPayload> group = stream.group("watched");
    group.snapshot();
    group.leases();
    group.bindings();
    group.exceptions().list(ExceptionFilter.all(), Page.first(5));
    stream.versions();
    monitor.system().migrations();
    client(AccessRole.APPLICATION).stream("orders").producer().produce(RawPayload.of("{}"));
    assertDenied(() -> stream.message(1), "message_log_1");
    assertDenied(
        () -> stream.producer().produce(RawPayload.of("{}")),
        "has no",
        "INSERT",
        "table " + database.schema() + ".message_log_1");
    assertDenied(() -> group.rewind(Start.beginning()), "claim_lease_1");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "a\"b",
        "a'b",
        "a\\b",
        "a\nb",
        "a\u0000",
        "public",
        "none",
        "pg_x",
        "\ud800",
        "0123456789012345678901234567890123456789012345678901234567890123"
      })
  void anUnsafeRoleIsRefused(String role) {
    for (AccessRole access : AccessRole.values()) {
      assertThatThrownBy(() -> client(AccessRole.INSTALLER).system().grants(access, role))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageStartingWith("role: ");
    }
  }

  @Test
  void oddNamesAreQuoted() {
    assertThat(client(AccessRole.INSTALLER).system().grants(AccessRole.MONITOR, "My; Role"))
        .allMatch(line -> line.contains("\"My; Role\"") && line.endsWith(";"));
  }

  @Test
  void grantsOfOneStreamNameItsTablesAlone() {
    SqlStreams installer = client(AccessRole.INSTALLER);
    installer.stream("one").register();
    long id = installer.stream("one").get().orElseThrow().id();
    for (AccessRole access :
        List.of(AccessRole.APPLICATION, AccessRole.PRODUCER, AccessRole.MONITOR)) {
      assertThat(installer.system().grants(access, "r", "one"))
          .anyMatch(line -> line.contains("message_log_" + id))
          .noneMatch(line -> line.matches(".*_log_\\d+.*") && !line.contains("_log_" + id))
          .noneMatch(line -> line.contains("ALL TABLES"));
      assertThatThrownBy(() -> installer.system().grants(access, "r", "nothing"))
          .isInstanceOf(StreamNotFoundException.class);
    }
  }

  @Test
  void maintenanceNeverBecomesASuperuser() {
    TestDatabase other = database.server().newDatabase("owned by a superuser");
    try (SqlStreams superuser =
        SqlStreams.builder(other.dataSource()).schema(other.schema()).build()) {
      superuser.system().register();
      assertThatThrownBy(() -> superuser.system().grants(AccessRole.MAINTENANCE, "r"))
          .isInstanceOf(InvalidInputException.class)
          .hasMessageContaining("superuser");
      assertThat(superuser.system().grants(AccessRole.APPLICATION, "r")).isNotEmpty();
    } finally {
      other.dropSchema();
    }
  }

  @Test
  void beforeTheInstallationOnlyTheInstallerHasGrants() {
    try (SqlStreams none =
        SqlStreams.builder(database.dataSource()).schema("nothing_here").build()) {
      assertThat(none.system().grants(AccessRole.INSTALLER, "r"))
          .contains("CREATE SCHEMA IF NOT EXISTS \"nothing_here\" AUTHORIZATION \"r\";");
      assertThatThrownBy(() -> none.system().grants(AccessRole.MONITOR, "r"))
          .isInstanceOf(NotInstalledException.class);
    }
  }

  // ----

  private static void produce(Producer<RawPayload> producer, int messages) {
    for (int i = 0; i < messages; i++) {
      producer.produce(RawPayload.of("{}"));
    }
  }

  private static void assertDenied(ThrowingCallable call, String... inMessage) {
    DatabaseException denied = catchThrowableOfType(DatabaseException.class, call);
    assertThat(denied).isNotNull().hasMessageContainingAll(inMessage);
    assertThat(denied.code()).isEqualTo(ErrorCode.PERMISSION_DENIED);
  }

  private static String name(AccessRole role) {
    return database.schema() + " " + role;
  }

  private static void grant(AccessRole role) {
    try (SqlStreams superuser =
        SqlStreams.builder(database.dataSource()).schema(database.schema()).build()) {
      superuser.system().grants(role, name(role)).forEach(PrivilegesIT::execute);
    }
  }

  private static SqlStreams client(AccessRole role) {
    return CLIENTS.computeIfAbsent(
        role,
        any ->
            SqlStreams.builder(POOLS.computeIfAbsent(role, PrivilegesIT::pool))
                .schema(database.schema())
                .build());
  }

  private static HikariDataSource pool(AccessRole role) {
    PGSimpleDataSource source = new PGSimpleDataSource();
    source.setURL(database.jdbcUrl());
    source.setUser(name(role));
    source.setConnectTimeout((int) Duration.ofSeconds(20).toSeconds());
    return TestPool.of(source, 6);
  }

  private static void execute(String sql) {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private static List<String> strings(String sql) {
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      List<String> strings = new ArrayList<>();
      while (row.next()) {
        strings.add(row.getString(1));
      }
      return strings;
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
