package io.sqlstreams.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.ZoneId;
import java.util.concurrent.CompletableFuture;
import javax.sql.DataSource;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

@SqlStreamsTest
class PostgresExtensionIT {

  static TestDatabase shared;
  TestDatabase database;

  @Test
  void fieldsAndParametersGetTheDatabaseOfTheClass(TestDatabase parameter) {
    assertThat(database).isNotNull().isSameAs(shared).isSameAs(parameter);
    assertThat(database.schema())
        .matches("^[a-z_][a-z0-9_]{0,39}$")
        .startsWith("t_postgresextensionit_");
  }

  @Nested
  class Inner {
    TestDatabase ofInner;

    @Test
    void nestedClassesShareIt() {
      assertThat(ofInner).isSameAs(database);
    }
  }

  @Test
  void namesAreUniqueAndValidForAnyText() {
    String long1 = "AVeryLongNameOfATestClassThatDoesNotFit".repeat(3);
    TestDatabase first = database.server().newDatabase(long1);
    TestDatabase second = database.server().newDatabase(long1);
    assertThat(first.schema()).isNotEqualTo(second.schema());
    assertThat(database.server().newDatabase("Ω").schema()).matches("^[a-z_][a-z0-9_]{0,39}$");
  }

  @Test
  void theSchemaIsNotCreatedAndIsDropped() throws SQLException {
    TestDatabase other = database.server().newDatabase("dropped");
    String exists = "SELECT to_regnamespace('" + other.schema() + "') IS NOT NULL";
    assertThat(query(database.dataSource(), exists)).isEqualTo("f");
    execute(database.dataSource(), "CREATE SCHEMA " + other.schema());
    execute(database.dataSource(), "CREATE TABLE " + other.schema() + ".x (i int)");
    assertThat(query(database.dataSource(), exists)).isEqualTo("t");
    other.dropSchema();
    other.dropSchema();
    assertThat(query(database.dataSource(), exists)).isEqualTo("f");
  }

  @Test
  void theHostileSourceIsHostile() throws SQLException {
    try (Connection connection = database.hostile().getConnection()) {
      assertThat(connection.getAutoCommit()).isFalse();
      assertThat(connection.getTransactionIsolation())
          .isEqualTo(Connection.TRANSACTION_SERIALIZABLE);
      assertThat(query(connection, "SHOW transaction_isolation")).isEqualTo("serializable");
      assertThat(query(connection, "SHOW TimeZone")).isEqualTo("America/New_York");
      assertThat(query(connection, "SELECT current_schemas(false)::text")).isEqualTo("{}");
      connection.rollback();
      // they are the session's, not the first transaction's
      assertThat(query(connection, "SHOW transaction_isolation")).isEqualTo("serializable");
      assertThat(query(connection, "SHOW TimeZone")).isEqualTo("America/New_York");
    }
  }

  @Test
  void theTestsRunInAZoneThatIsNotUtc() throws SQLException {
    assertThat(ZoneId.systemDefault()).isEqualTo(ZoneId.of("Asia/Tokyo"));
    assertThat(query(database.dataSource(), "SHOW TimeZone")).isEqualTo("Asia/Tokyo");
  }

  @Test
  void theServerIsSetUpForTests() throws SQLException {
    assumeTrue(database.server().serverLog().isPresent(), "not the embedded server");
    assertThat(query(database.dataSource(), "SHOW max_connections")).isEqualTo("300");
    assertThat(query(database.dataSource(), "SHOW max_prepared_transactions")).isEqualTo("20");
    assertThat(query(database.dataSource(), "SHOW synchronous_commit")).isEqualTo("on");
    assertThat(query(database.dataSource(), "SHOW server_encoding")).isEqualTo("UTF8");
    assertThat(query(database.dataSource(), "SHOW fsync"))
        .isEqualTo(Boolean.getBoolean(TestPostgres.FSYNC_PROPERTY) ? "on" : "off");
    assertThat(query(database.dataSource(), "SHOW shared_preload_libraries"))
        .isEqualTo("pg_stat_statements");
    String collation = "SELECT datcollate FROM pg_database WHERE datname = current_database()";
    assertThat(query(database.dataSource(), collation)).isEqualTo("C");
  }

  @Test
  @EnabledIfSystemProperty(named = "postgres.version", matches = "\\d+")
  void theServerHasTheVersionThatWasAskedFor() {
    assertThat(database.server().majorVersion()).isEqualTo(Integer.getInteger("postgres.version"));
  }

  @Test
  void aDeadlockIsFoundInTheLog() throws Exception {
    assumeTrue(database.server().serverLog().isPresent(), "not the embedded server");
    TestDatabase other = database.server().newDatabase("deadlock");
    String table = other.schema() + ".pair";
    execute(other.dataSource(), "CREATE SCHEMA " + other.schema());
    execute(other.dataSource(), "CREATE TABLE " + table + " AS SELECT generate_series(1, 2) AS i");
    assertThat(other.deadlocks()).isEmpty();
    String lock = "SELECT i FROM " + table + " WHERE i = %d FOR UPDATE";
    try (Connection a = other.dataSource().getConnection();
        Connection b = other.dataSource().getConnection()) {
      a.setAutoCommit(false);
      b.setAutoCommit(false);
      query(a, lock.formatted(1));
      query(b, lock.formatted(2));
      CompletableFuture<Void> second =
          CompletableFuture.runAsync(
              () -> {
                try {
                  query(a, lock.formatted(2));
                  a.rollback();
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      assertThatThrownBy(
              () -> {
                query(b, lock.formatted(1));
                b.rollback();
                second.join(); // if the other session was the one to lose
              })
          .hasStackTraceContaining("deadlock detected");
      b.rollback();
      second.handle((done, failure) -> failure).join();
      a.rollback();
    } finally {
      other.dropSchema();
    }
    assertThat(other.deadlocks())
        .singleElement()
        .asString()
        .contains("deadlock detected", "DETAIL", "STATEMENT", lock.formatted(1));
    assertThat(database.deadlocks()).isEmpty();
  }

  private static void execute(DataSource source, String sql) throws SQLException {
    try (Connection connection = source.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String query(DataSource source, String sql) throws SQLException {
    try (Connection connection = source.getConnection()) {
      return query(connection, sql);
    }
  }

  private static String query(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertThat(row.next()).isTrue();
      return row.getString(1);
    }
  }
}
