package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.ClosedException;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

@SqlStreamsTest
class ClientIT {
  static TestDatabase database;

  @BeforeAll
  static void table() throws SQLException {
    Sql.execute(
        database.dataSource(),
        on(
            "CREATE SCHEMA {s}; CREATE TABLE {s}.mine (id int PRIMARY KEY DEFERRABLE INITIALLY DEFERRED)"));
  }

  @Test
  void aTransactionCommitsWhatItsWorkReturns() throws SQLException {
    try (HikariDataSource pool = pool();
        SqlStreams client = client(pool)) {
      int result =
          client.inTransaction(
              connection -> {
                assertThat(connection.getAutoCommit()).isFalse();
                insert(connection, 1);
                return 42;
              });
      assertThat(result).isEqualTo(42);
      assertThat(ids()).contains("1");
      try (Connection connection = pool.getConnection()) {
        assertThat(connection.getAutoCommit()).isTrue();
      }
    }
  }

  @Test
  void aTransactionIsRolledBackWhenItsWorkThrows() throws SQLException {
    try (HikariDataSource pool = pool();
        SqlStreams client = client(pool)) {
      for (Throwable thrown :
          List.of(
              new IOException("a"), new IllegalStateException("b"), new StackOverflowError("c"))) {
        assertThatThrownBy(
                () ->
                    client.inTransaction(
                        connection -> {
                          insert(connection, 2);
                          if (thrown instanceof Error error) {
                            throw error;
                          }
                          throw (Exception) thrown;
                        }))
            .isSameAs(thrown);
        assertThat(ids()).doesNotContain("2");
        try (Connection connection = pool.getConnection()) {
          assertThat(connection.getAutoCommit()).isTrue();
          assertThat(Sql.rows(connection, "SELECT 1")).containsExactly("1");
        }
      }
    }
  }

  @Test
  void theIsolationLevelIsThatOfTheConnection() throws SQLException {
    try (SqlStreams client = client(database.hostile())) {
      client.inTransaction(
          connection -> {
            assertThat(Sql.rows(connection, "SHOW transaction_isolation"))
                .containsExactly("serializable");
            insert(connection, 3);
            return null;
          });
    }
    assertThat(ids()).contains("3");
  }

  @Test
  void aRefusedCommitIsAnErrorAndALostOneIsUnknown() throws SQLException {
    try (SqlStreams client = client(database.dataSource())) {
      assertThatThrownBy(
              () ->
                  client.inTransaction(
                      connection -> {
                        insert(connection, 4);
                        insert(connection, 4); // found out at the commit
                        return null;
                      }))
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(e -> assertThat(e.sqlState()).isEqualTo("23505"));
      assertThatThrownBy(
              () ->
                  client.inTransaction(
                      connection -> {
                        insert(connection, 5);
                        String pid = Sql.rows(connection, "SELECT pg_backend_pid()").get(0);
                        Sql.execute(
                            database.dataSource(),
                            "SELECT pg_terminate_backend(" + pid + ", 5000)");
                        return null;
                      }))
          .isInstanceOf(OutcomeUnknownException.class);
      assertThat(ids()).doesNotContain("4", "5");
    }
  }

  @Test
  void aSwallowedStatementErrorIsNoSilentRollback() throws SQLException {
    try (SqlStreams client = client(database.dataSource())) {
      assertThatThrownBy(
              () ->
                  client.inTransaction(
                      connection -> {
                        insert(connection, 6);
                        try {
                          Sql.execute(connection, "SELECT 1 / 0");
                        } catch (SQLException e) {
                          // the caller's fault
                        }
                        return null;
                      }))
          .isInstanceOf(DatabaseException.class);
      assertThat(ids()).doesNotContain("6");
    }
  }

  @Test
  void aServerThatIsNotThereIsSaidSo() {
    PGSimpleDataSource nowhere = new PGSimpleDataSource();
    nowhere.setURL("jdbc:postgresql://127.0.0.1:1/none");
    try (SqlStreams client = client(nowhere)) {
      for (Runnable verb :
          List.<Runnable>of(
              () -> client.system().register(),
              () -> client.stream("s").get(),
              () -> client.inTransaction(connection -> null))) {
        assertThatThrownBy(verb::run)
            .asInstanceOf(type(DatabaseException.class))
            .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.DATABASE_UNREACHABLE));
      }
    }
  }

  @Test
  void aClosedClientRefusesEveryVerb() {
    SqlStreams client = client(database.dataSource());
    StreamHandle<?> stream = client.stream("s");
    ConsumerGroup<?> group = stream.group("g");
    SystemHandle system = client.system();
    client.close();
    client.close();
    for (Runnable verb :
        List.<Runnable>of(
            system::register,
            system::get,
            system::list,
            () -> system.rename("x"),
            system::destroy,
            client::streams,
            () -> client.inTransaction(connection -> null),
            () -> stream.register(StreamConfig.defaults()),
            stream::get,
            () -> stream.rename("x"),
            stream::destroy,
            stream::groups,
            group::register,
            group::get,
            () -> group.rename("x"),
            group::destroy,
            () -> group.consume(message -> Outcome.done()))) {
      assertThatThrownBy(verb::run).isInstanceOf(ClosedException.class);
    }
  }

  private static SqlStreams client(javax.sql.DataSource source) {
    return SqlStreams.builder(source).schema(database.schema()).allowDestroy(true).build();
  }

  private static HikariDataSource pool() {
    HikariConfig config = new HikariConfig();
    config.setDataSource(database.dataSource());
    config.setMaximumPoolSize(1);
    return new HikariDataSource(config);
  }

  private static void insert(Connection connection, int id) throws SQLException {
    Sql.execute(connection, on("INSERT INTO {s}.mine (id) VALUES (" + id + ")"));
  }

  private static List<String> ids() throws SQLException {
    return Sql.rows(database.dataSource(), on("SELECT id FROM {s}.mine"));
  }

  private static String on(String sql) {
    return sql.replace("{s}", database.schema());
  }
}
