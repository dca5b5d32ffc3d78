package io.sqlstreams.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

@SqlStreamsTest
class UsefulSqlIT {
  TestDatabase database;

  @Test
  void everyStatementThatTheDemoShowsRuns() throws SQLException {
    long id;
    try (SqlStreams client =
        SqlStreams.builder(database.dataSource()).schema(database.schema()).build()) {
      id = client.stream("orders").register().id();
      client.stream("orders").group("billing").register();
      client.stream("orders").producer().produce(RawPayload.of("{}"));
    }
    try (Connection connection = database.dataSource().getConnection();
        Statement statement = connection.createStatement()) {
      for (UsefulSql.Statement useful : UsefulSql.of(database.schema(), id)) {
        assertThat(statement.execute(useful.sql())).as(useful.question()).isTrue();
      }
    }
  }
}
