package io.sqlstreams.internal.produce;

import static io.sqlstreams.internal.produce.ProduceLab.execute;
import static io.sqlstreams.internal.produce.ProduceLab.json;
import static io.sqlstreams.internal.produce.ProduceLab.numbered;
import static io.sqlstreams.internal.produce.ProduceLab.value;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.TransactionProducer;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.error.StreamNotFoundException;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@SqlStreamsTest
class ProduceInTransactionIT {
  private static final int MANY = LogWriter.COPY_MESSAGES;
  private static final StreamConfig SMALL_PARTITIONS =
      StreamConfig.defaults().withPartitionSize(100);

  TestDatabase database;
  private ProduceLab lab;

  @BeforeEach
  void open() {
    lab = new ProduceLab(database, database.dataSource());
  }

  @AfterEach
  void close() {
    lab.close();
  }

  private Connection begin() throws SQLException {
    Connection connection = lab.connect();
    connection.setAutoCommit(false);
    return connection;
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 10, MANY, 3_000})
  void messagesAppearAtTheCommitAndVanishWithARollback(int count) throws SQLException {
    StreamInfo stream = lab.register();
    try (Connection connection = begin()) {
      List<Produced> produced = lab.producer(stream).in(connection).produceAll(numbered(count));
      assertThat(produced).hasSize(count);
      assertThat(lab.count(stream)).isZero();
      connection.rollback();
      assertThat(lab.count(stream)).isZero();
      produced = lab.producer(stream).in(connection).produceAll(numbered(count));
      connection.commit();
      assertThat(lab.rows(stream))
          .extracting(ProduceLab.Row::id)
          .isEqualTo(produced.stream().map(Produced::id).toList());
      assertThat(lab.payloads(stream))
          .isEqualTo(numbered(count).stream().map(m -> m.payload().text()).toList());
    }
  }

  @ParameterizedTest
  @ValueSource(
      ints = {
        Connection.TRANSACTION_READ_COMMITTED,
        Connection.TRANSACTION_REPEATABLE_READ,
        Connection.TRANSACTION_SERIALIZABLE
      })
  void everyIsolationLevelWillDo(int level) throws SQLException {
    StreamInfo stream = lab.register(SMALL_PARTITIONS);
    try (Connection connection = begin()) {
      connection.setTransactionIsolation(level);
      TransactionProducer<RawPayload> producer = lab.producer(stream).in(connection);
      value(
          connection,
          "SELECT count(*) FROM pg_class"); // the snapshot is taken before the partitions come
      producer.produce(json("1"));
      producer.produceAll(numbered(150));
      producer.produceAll(numbered(MANY));
      producer.produce(json("2"));
      assertThat(connection.getTransactionIsolation()).isEqualTo(level);
      connection.commit();
    }
    assertThat(lab.count(stream)).isEqualTo(MANY + 152);
  }

  /**
   * A refused message is as if it had never been sent, whatever the transaction has done before and
   * does after.
   */
  @Test
  void aRefusedMessageLeavesTheTransactionUsable() throws SQLException {
    StreamInfo stream = lab.register(StreamConfig.defaults().withPayloadType(PayloadType.JSONB));
    List<Outgoing<RawPayload>> fewBad = new ArrayList<>(numbered(10));
    fewBad.set(5, Outgoing.of(json("{")));
    List<Outgoing<RawPayload>> manyBad = new ArrayList<>(numbered(MANY));
    manyBad.set(5, Outgoing.of(json("{")));
    try (Connection connection = begin()) {
      TransactionProducer<RawPayload> producer = lab.producer(stream).in(connection);
      for (int round = 0;
          round < 8;
          round++) { // past the driver's threshold for prepared statements
        execute(connection, "CREATE TEMPORARY TABLE t" + round + " (i int)");
        producer.produce(json("1"));
        assertThatThrownBy(() -> producer.produce(json("{")))
            .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> producer.produceAll(fewBad))
            .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> producer.produceAll(manyBad))
            .isInstanceOf(InvalidInputException.class);
        assertThatThrownBy(() -> producer.produce(json("\"\\u0000\"")))
            .isInstanceOf(InvalidInputException.class);
        producer.produceAll(numbered(2));
      }
      connection.commit();
      assertThat(value(connection, "SELECT count(*) FROM t7")).isEqualTo("0");
    }
    assertThat(lab.count(stream)).isEqualTo(24);
  }

  @Test
  void b62_theCallersSavepointsWorkAsEver() throws SQLException {
    StreamInfo stream = lab.register();
    try (Connection connection = begin()) {
      TransactionProducer<RawPayload> producer = lab.producer(stream).in(connection);
      producer.produce(json("1"));
      Savepoint savepoint = connection.setSavepoint();
      producer.produce(json("2"));
      producer.produceAll(numbered(MANY));
      connection.rollback(savepoint);
      producer.produce(json("3"));
      execute(connection, "SAVEPOINT sqlstreams_produce"); // even if it has our name
      producer.produce(json("4"));
      assertThatThrownBy(() -> producer.produce(json("{")))
          .isInstanceOf(InvalidInputException.class);
      execute(connection, "ROLLBACK TO SAVEPOINT sqlstreams_produce");
      producer.produce(json("5"));
      connection.commit();
    }
    assertThat(lab.payloads(stream)).containsExactly("1", "3", "5");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, MANY})
  void b62_aReadOnlyTransactionIsRefusedClearlyAndStaysUsable(int count) throws SQLException {
    StreamInfo stream = lab.register();
    lab.producer(stream).produce(json("0"));
    try (Connection connection = lab.connect()) {
      connection.setReadOnly(true);
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> lab.producer(stream).in(connection).produceAll(numbered(count)))
          .hasMessageContaining("read-only")
          .asInstanceOf(type(DatabaseException.class))
          .extracting(DatabaseException::sqlState)
          .isEqualTo("25006");
      assertThat(value(connection, "SELECT count(*) FROM " + lab.log(stream))).isEqualTo("1");
    }
  }

  @Test
  void aConnectionThatCannotBeUsedIsSaidSo() throws SQLException {
    StreamInfo stream = lab.register();
    Producer<RawPayload> producer = lab.producer(stream);
    Connection closed = lab.connect();
    closed.close();
    refusedConnection("closed", producer, closed);
    assertThatThrownBy(() -> producer.in(null)).isInstanceOf(InvalidInputException.class);
    Connection foreign =
        (Connection)
            Proxy.newProxyInstance(
                getClass().getClassLoader(),
                new Class<?>[] {Connection.class},
                (self, method, arguments) -> {
                  switch (method.getName()) {
                    case "isClosed":
                      return false;
                    case "unwrap":
                      throw new SQLException("not me");
                    default:
                      throw new UnsupportedOperationException(method.getName());
                  }
                });
    refusedConnection("JDBC driver", producer, foreign);
    try (Connection connection = begin()) {
      assertThatThrownBy(() -> execute(connection, "SELECT 1 / 0"))
          .isInstanceOf(SQLException.class);
      assertThatThrownBy(() -> producer.in(connection).produce(json("1")))
          .hasMessageContaining("an earlier statement failed")
          .asInstanceOf(type(DatabaseException.class))
          .extracting(DatabaseException::sqlState)
          .isEqualTo("25P02");
      connection.rollback();
      producer.in(connection).produce(json("1"));
      connection.commit();
    }
    assertThat(lab.count(stream)).isEqualTo(1);
  }

  private static void refusedConnection(
      String says, Producer<RawPayload> producer, Connection connection) {
    assertThatThrownBy(() -> producer.in(connection).produce(json("1")))
        .hasMessageContaining(says)
        .asInstanceOf(type(InvalidInputException.class))
        .extracting(InvalidInputException::field)
        .isEqualTo("connection");
  }

  @Test
  void inAutoCommitModeEachCallIsATransactionByItself() throws SQLException {
    StreamInfo stream = lab.register(SMALL_PARTITIONS);
    try (Connection connection = lab.connect()) {
      execute(connection, "SET default_transaction_isolation = 'serializable'");
      TransactionProducer<RawPayload> producer = lab.producer(stream).in(connection);
      producer.produce(json("1"));
      assertThat(lab.count(stream)).isEqualTo(1);
      producer.produceAll(numbered(MANY));
      assertThat(lab.count(stream)).isEqualTo(1 + MANY);
      assertThatThrownBy(() -> producer.produce(json("{")))
          .isInstanceOf(InvalidInputException.class);
      assertThatThrownBy(() -> producer.produceAll(badAtTheEnd(MANY)))
          .isInstanceOf(InvalidInputException.class);
      producer.produce(json("2"));
      assertThat(lab.count(stream)).isEqualTo(2 + MANY);
      // a transaction that the caller began by a statement is the caller's as well
      execute(connection, "BEGIN");
      producer.produce(json("3"));
      producer.produceAll(numbered(MANY));
      assertThatThrownBy(() -> producer.produce(json("{")))
          .isInstanceOf(InvalidInputException.class);
      producer.produce(json("4"));
      assertThat(lab.count(stream)).isEqualTo(2 + MANY);
      execute(connection, "ROLLBACK");
      assertThat(lab.count(stream)).isEqualTo(2 + MANY);
      assertThat(connection.getAutoCommit()).isTrue();
    }
  }

  private static List<Outgoing<RawPayload>> badAtTheEnd(int count) {
    List<Outgoing<RawPayload>> messages = new ArrayList<>(numbered(count));
    messages.set(count - 1, Outgoing.of(json("{")));
    return messages;
  }

  /**
   * Nothing of what ends a transaction or changes the connection is ever called, whatever happens.
   */
  @Test
  void b62_theBorrowedConnectionIsLeftAsItIs() throws SQLException {
    Set<String> forbidden =
        Set.of(
            "commit",
            "rollback",
            "close",
            "abort",
            "setAutoCommit",
            "setTransactionIsolation",
            "setReadOnly",
            "setSchema",
            "setSavepoint",
            "releaseSavepoint",
            "setHoldability",
            "setNetworkTimeout",
            "setCatalog",
            "clearWarnings");
    StreamInfo stream = lab.register(SMALL_PARTITIONS);
    List<String> called = new ArrayList<>();
    try (Connection plain = begin()) {
      Connection watched =
          (Connection)
              Proxy.newProxyInstance(
                  getClass().getClassLoader(),
                  new Class<?>[] {Connection.class},
                  (self, method, arguments) -> {
                    called.add(method.getName());
                    try {
                      return method.invoke(plain, arguments);
                    } catch (InvocationTargetException e) {
                      throw e.getCause();
                    }
                  });
      TransactionProducer<RawPayload> producer = lab.producer(stream).in(watched);
      producer.produce(json("1"));
      producer.produceAll(numbered(3 * MANY));
      producer.produceAll(numbered(120));
      assertThatThrownBy(() -> producer.produce(json("{")))
          .isInstanceOf(InvalidInputException.class);
      assertThatThrownBy(() -> producer.produceAll(badAtTheEnd(MANY)))
          .isInstanceOf(InvalidInputException.class);
      assertThatThrownBy(() -> lab.producer("nowhere").in(watched).produce(json("1")))
          .isInstanceOf(StreamNotFoundException.class);
      assertThat(called).isNotEmpty().doesNotContainAnyElementsOf(forbidden);
      assertThat(lab.count(stream)).isZero();
      plain.rollback();
    }
    assertThat(lab.count(stream)).isZero();
  }

  /** The caller's transaction holds locks on the log when the partition has to come. */
  @ParameterizedTest
  @ValueSource(ints = {1, 50, 150, MANY, 2_000})
  void aMissingPartitionIsHealedWithinTheCallersTransaction(int count) throws SQLException {
    StreamInfo stream = lab.register(SMALL_PARTITIONS);
    try (Connection connection = begin();
        Connection other = begin()) {
      TransactionProducer<RawPayload> producer = lab.producer(stream).in(connection);
      producer.produce(json("1"));
      lab.producer(stream).in(other).produce(json("2"));
      lab.number("SELECT setval('" + lab.log(stream) + "_id_seq', 10000000)");
      producer.produceAll(numbered(count));
      producer.produce(json("3"));
      connection.commit();
      lab.producer(stream).in(other).produceAll(numbered(count));
      other.commit();
    }
    assertThat(lab.count(stream)).isEqualTo(2 * count + 3);
  }

  @Test
  void b63_theOnlyConnectionOfAPoolIsEnough() throws SQLException {
    StreamInfo stream = lab.register();
    HikariConfig config = new HikariConfig();
    config.setDataSource(database.dataSource());
    config.setMaximumPoolSize(1);
    config.setConnectionTimeout(2_000);
    config.setAutoCommit(false);
    try (HikariDataSource pool = new HikariDataSource(config);
        ProduceLab small = new ProduceLab(database, pool)) {
      Producer<RawPayload> producer = small.producer(stream);
      try (Connection connection = pool.getConnection()) {
        producer.in(connection).produce(json("1")); // it even finds the stream by this connection
        connection.commit();
      }
      try (Connection connection = pool.getConnection()) {
        producer.in(connection).produce(json("2"));
        producer.in(connection).produceAll(numbered(MANY));
        assertThatThrownBy(() -> producer.in(connection).produce(json("{")))
            .isInstanceOf(InvalidInputException.class);
        connection.commit();
        assertThatThrownBy(() -> producer.produce(json("3")))
            .asInstanceOf(type(DatabaseException.class))
            .extracting(DatabaseException::code)
            .isEqualTo(ErrorCode.DATABASE_UNREACHABLE);
      }
      producer.produce(json("4"), ProduceOptions.key("k"));
      producer.produceAll(numbered(MANY));
      try (Connection connection = pool.getConnection()) {
        producer.in(connection).produce(json("5"));
        connection.rollback();
      }
    }
    assertThat(lab.count(stream)).isEqualTo(3 + 2 * MANY);
  }

  @Test
  void aSerializationFailureIsCleanAndNothingIsWrittenTwice() throws SQLException {
    StreamInfo stream = lab.register();
    lab.execute(
        "CREATE TABLE IF NOT EXISTS "
            + database.schema()
            + ".seen (i int); TRUNCATE "
            + database.schema()
            + ".seen");
    String seen = database.schema() + ".seen";
    try (Connection first = begin();
        Connection second = begin()) {
      first.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      second.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
      value(first, "SELECT count(*) FROM " + seen);
      value(second, "SELECT count(*) FROM " + seen);
      execute(first, "INSERT INTO " + seen + " VALUES (1)");
      execute(second, "INSERT INTO " + seen + " VALUES (2)");
      lab.producer(stream).in(first).produce(json("1"));
      first.commit();
      assertThatThrownBy(
              () -> {
                lab.producer(stream).in(second).produce(json("2"));
                second.commit();
              })
          .satisfiesAnyOf(
              e -> assertThat(((DatabaseException) e).code()).isEqualTo(ErrorCode.CONTENTION),
              e -> assertThat(((SQLException) e).getSQLState()).isEqualTo("40001"));
      second.rollback();
    }
    assertThat(lab.payloads(stream)).containsExactly("1");
  }
}
