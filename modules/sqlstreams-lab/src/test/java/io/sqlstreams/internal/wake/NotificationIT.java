package io.sqlstreams.internal.wake;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Notifications;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.internal.lease.Heartbeat;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.Ear;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who tells what to whom, on which connection. */
@SqlStreamsTest
class NotificationIT {
  private static final Duration LONG = Duration.ofMinutes(1);

  TestDatabase database;

  private SqlStreams client(Notifications notifications) {
    return SqlStreams.builder(TestPool.shared(database))
        .schema(database.schema())
        .notifications(notifications)
        .build();
  }

  /** Steps: the session that listens is ended by the server; somebody tells of a stream. */
  @Test
  void b09_aListenerThatWasCutOffListensAgainAndLetsEverybodyLookOnce() throws Exception {
    TestStream stream = TestStream.register(database);
    Wakeups wakeups = new Wakeups();
    Signal signal = new Signal();
    wakeups.register(stream.info().id(), signal);
    Listener listener = new Listener(Scope.system(database.schema()), wakeups, () -> {});
    Heartbeat heartbeat =
        new Heartbeat(new Database(stream.dataSource(), database.schema()), listener);
    Heartbeat.Holder holder = holder();
    heartbeat.join(holder);
    try {
      assertThat(listener.isLive()).isTrue();
      assertSet(signal);
      stream.produce(1);
      assertSet(signal);
      try (Connection other = stream.unpooled();
          Statement statement = other.createStatement()) {
        statement.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '"
                + database.schema()
                + "' AND query ~ '^(LISTEN|SELECT /. read_backend)'");
      }
      Await.until("the loss is noticed", () -> listener.losses() == 1);
      Await.until("it listens again", listener::isLive);
      // what was told meanwhile
      assertSet(signal);
      stream.produce(1);
      assertSet(signal);
    } finally {
      heartbeat.leave(holder);
      heartbeat.stop();
    }
  }

  private static Heartbeat.Holder holder() {
    return new Heartbeat.Holder() {
      @Override
      public Duration interval() {
        return LONG;
      }

      @Override
      public void renew(Connection connection) {}
    };
  }

  /** The bound is for a hang alone. */
  private static void assertSet(Signal signal) throws InterruptedException {
    long begin = System.nanoTime();
    signal.await(LONG.toNanos());
    assertThat(System.nanoTime() - begin).as("it was set").isLessThan(LONG.toNanos());
  }

  @ParameterizedTest
  @EnumSource(Notifications.class)
  void b11_aTransactionTellsOnceOfEachStreamOrNotAtAll(Notifications notifications)
      throws Exception {
    TestStream one = TestStream.register(database);
    TestStream other = TestStream.register(database);
    List<Outgoing<RawPayload>> many =
        Collections.nCopies(300, Outgoing.of(RawPayload.of("{}"), ProduceOptions.key("k")));
    try (SqlStreams client = client(notifications);
        Ear ear = new Ear(database);
        Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      for (TestStream stream : List.of(one, other)) {
        Producer<RawPayload> producer = client.stream(stream.name()).producer();
        for (int i = 0; i < 100; i++) {
          producer.in(connection).produce(RawPayload.of("{}"), ProduceOptions.key("k" + i));
        }
        producer.in(connection).produceAll(many);
      }
      assertThat(ear.heard()).as("before the commit").isEmpty();
      connection.commit();
      if (notifications == Notifications.ALL) {
        assertThat(ear.heard()).containsExactlyInAnyOrder(id(one), id(other));
      } else {
        assertThat(ear.heard()).isEmpty();
      }
      client.stream(one.name()).producer().in(connection).produce(RawPayload.of("{}"));
      connection.rollback();
      assertThat(ear.heard()).as("nothing was committed").isEmpty();
    }
  }

  @Test
  void b11_theLibrarysOwnCommitsAreToldOfTogether() throws Exception {
    TestStream stream = TestStream.register(database);
    try (Ear ear = new Ear(database)) {
      try (SqlStreams client = client(Notifications.OUTSIDE_TRANSACTIONS)) {
        Producer<RawPayload> producer = client.stream(stream.name()).producer();
        for (int i = 0; i < 200; i++) {
          producer.produce(RawPayload.of("{}"));
        }
      }
      List<String> heard = ear.heard();
      assertThat(heard).containsOnly(id(stream)).hasSizeBetween(1, 200);
      try (SqlStreams client = client(Notifications.NONE)) {
        client.stream(stream.name()).producer().produce(RawPayload.of("{}"));
      }
      assertThat(ear.heard()).isEmpty();
    }
  }

  @Test
  void b11_lookingAloneWorks() {
    TestStream stream = TestStream.register(database);
    try (SqlStreams producing = client(Notifications.NONE);
        SqlStreams consuming = client(Notifications.NONE);
        Consumer consumer = Consumer.start(consuming, stream, message -> Outcome.done())) {
      Producer<RawPayload> producer = producing.stream(stream.name()).producer();
      for (int i = 1; i <= 20; i++) {
        producer.produce(RawPayload.of("{}"));
        consumer.awaitReceived(i);
      }
    }
  }

  @Test
  void b12_theListenersSessionIsNeverInATransactionAndTheQueueOfTheServerStaysEmpty()
      throws Exception {
    TestStream stream = TestStream.register(database);
    try (HikariDataSource pool = TestPool.hostile(database, 4);
        SqlStreams client = SqlStreams.builder(pool).schema(database.schema()).build();
        Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      Await.until("it listens", () -> listeners(stream).size() == 1);
      long pid = listeners(stream).get(0);
      try (Connection connection = database.dataSource().getConnection()) {
        connection.setAutoCommit(false);
        Producer<RawPayload> producer = client.stream(stream.name()).producer();
        for (int i = 0; i < 500; i++) {
          producer.in(connection).produce(RawPayload.of("{}"));
          connection.commit();
          if (i % 50 == 0) {
            assertThat(state(stream, pid)).isIn("idle", "active");
          }
        }
      }
      consumer.awaitReceived(500);
      Await.until(
          "nothing waits to be heard",
          () -> stream.rows("SELECT pg_notification_queue_usage() = 0").get(0).equals("t"));
      assertThat(state(stream, pid)).isIn("idle", "active");
    }
  }

  /** The sessions that have begun to listen a moment ago. */
  private List<Long> listeners(TestStream stream) {
    return stream.longs(
        "SELECT pid FROM pg_stat_activity WHERE application_name = '"
            + database.schema()
            + "' AND query LIKE 'LISTEN%'");
  }

  private static String state(TestStream stream, long pid) {
    return stream.rows("SELECT state FROM pg_stat_activity WHERE pid = " + pid).get(0);
  }

  @Test
  void b13_streamsWhoseNamesDifferInCapitalsAloneAreToldApart() throws Exception {
    Map<String, Long> ids = new HashMap<>();
    try (SqlStreams client = client(Notifications.ALL);
        Ear ear = new Ear(database)) {
      for (String name : List.of("OrderEvents", "orderevents")) {
        ids.put(name, client.stream(name).register().id());
        client.stream(name).group("G").register();
      }
      List<String> received = Collections.synchronizedList(new ArrayList<>());
      try (SqlStreams consuming = client(Notifications.ALL)) {
        for (String name : ids.keySet()) {
          consuming.stream(name)
              .group("G")
              .consume(
                  message -> {
                    received.add(name + " " + message.payload().text());
                    return Outcome.done();
                  },
                  Consumer.QUICK.withPollInterval(LONG));
        }
        for (String name : ids.keySet()) {
          client.stream(name).producer().produce(RawPayload.of("\"" + name + "\""));
          Await.until("it is received", () -> received.contains(name + " \"" + name + "\""));
          assertThat(ear.heard()).containsExactly(ids.get(name).toString());
        }
        assertThat(received).hasSize(2);
      }
    }
  }

  @Test
  void b14_whatIsToldNeverHoldsWhatUsersWrote() throws Exception {
    TestStream stream = TestStream.register(database);
    ProduceOptions options = ProduceOptions.key("k".repeat(900));
    for (int i = 0; i < 50; i++) {
      options = options.withHeader("header" + i, "v".repeat(100));
    }
    try (SqlStreams client = client(Notifications.ALL);
        Ear ear = new Ear(database);
        Connection connection = database.dataSource().getConnection()) {
      connection.setAutoCommit(false);
      Producer<RawPayload> producer = client.stream(stream.name()).producer();
      for (int size : List.of(7_999, 8_001, 1_000_000)) {
        RawPayload payload = RawPayload.of("\"" + "x".repeat(size - 2) + "\"");
        producer.in(connection).produce(payload, options);
        connection.commit();
        assertThat(ear.heard()).containsExactly(id(stream));
        producer.produce(payload, options);
        List<String> heard = new ArrayList<>();
        while (heard.isEmpty()) {
          heard.addAll(ear.heard());
        }
        assertThat(heard).containsExactly(id(stream));
      }
    }
  }

  @Test
  void aConnectionThatIsGivenBackListensNoMore() throws Exception {
    TestStream stream = TestStream.register(database);
    try (HikariDataSource pool = TestPool.of(database.dataSource(), 2)) {
      try (SqlStreams client = SqlStreams.builder(pool).schema(database.schema()).build();
          Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
        Await.until("it listens", () -> listeners(stream).size() == 1);
        stream.produce(1);
        consumer.awaitReceived(1);
      }
      try (Connection one = pool.getConnection();
          Connection other = pool.getConnection()) {
        for (Connection connection : List.of(one, other)) {
          try (Statement statement = connection.createStatement();
              ResultSet row =
                  statement.executeQuery("SELECT count(*) FROM pg_listening_channels()")) {
            row.next();
            assertThat(row.getInt(1)).isZero();
          }
        }
      }
    }
  }

  /** A pooler answers for the server, with a session number of its own. */
  @Test
  void behindAPoolerItLooksForItselfOrListensOnADirectDataSource() throws Exception {
    TestStream stream = TestStream.register(database);
    DataSource pooled = PooledDataSource.of(stream.dataSource());
    try (SqlStreams client = SqlStreams.builder(pooled).schema(database.schema()).build();
        Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      stream.produceSilently(1);
      consumer.awaitReceived(1);
      assertThat(listeners(stream)).isEmpty();
    }
    try (SqlStreams client =
            SqlStreams.builder(pooled)
                .schema(database.schema())
                .listenOn(database.dataSource())
                .build();
        Consumer consumer = Consumer.start(client, stream, message -> Outcome.done())) {
      Await.until("it listens", () -> listeners(stream).size() == 1);
      stream.produce(1);
      consumer.awaitReceived(1);
    }
    Await.until("its connection is closed", () -> listeners(stream).isEmpty());
  }

  /** Steps: a transactional handler produces to another stream; its consumer is elsewhere. */
  @Test
  void whatAHandlersTransactionProducesIsToldOf() throws Exception {
    TestStream from = TestStream.register(database);
    TestStream to = TestStream.register(database);
    try (SqlStreams client = client(Notifications.ALL);
        Ear ear = new Ear(database)) {
      var consumption =
          client.stream(from.name())
              .group("g")
              .consumeTransactional(
                  (message, connection) -> {
                    client.stream(to.name()).producer().in(connection).produce(message.payload());
                    return Outcome.done();
                  });
      from.produce(1);
      Await.until("it is handled", () -> consumption.counters().done() == 1);
      assertThat(ear.heard()).contains(id(to));
    }
  }

  private static String id(TestStream stream) {
    return Long.toString(stream.info().id());
  }
}
