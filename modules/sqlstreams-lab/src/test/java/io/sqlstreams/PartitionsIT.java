package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.internal.partition.Partitions;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@SqlStreamsTest
class PartitionsIT {
  TestDatabase database;
  SqlStreams client;
  StreamInfo stream;
  Partitions partitions;

  @BeforeEach
  void freshStream() {
    client =
        SqlStreams.builder(database.dataSource())
            .schema(database.schema())
            .allowDestroy(true)
            .build();
    client.stream("s").destroy();
    stream = client.stream("s").register(StreamConfig.defaults().withPartitionSize(100));
    partitions = partitions(database.dataSource());
  }

  @Test
  void aNewStreamHasTwo() throws SQLException {
    assertThat(bounds())
        .containsExactly(
            "0 FOR VALUES FROM ('1') TO ('101')", "1 FOR VALUES FROM ('101') TO ('201')");
    partitions.ensureThrough(stream, 1);
    partitions.ensureThrough(stream, 100);
    assertThat(bounds()).hasSize(2);
  }

  @Test
  void everyOneUpToTheIdIsThereAndTheNext() throws SQLException {
    partitions.ensureThrough(stream, 101);
    assertThat(numbers()).containsExactly(0L, 1L, 2L);
    partitions.ensureThrough(stream, 5_000); // more than one transaction's worth
    assertThat(numbers()).hasSize(51).startsWith(0L).endsWith(50L);
    partitions.ensureThrough(stream, 5_000);
    assertThat(numbers()).hasSize(51);
    assertThat(bounds()).contains("49 FOR VALUES FROM ('4901') TO ('5001')");
  }

  @Test
  void aJumpOfTheIdsIsNotFilled() throws SQLException {
    partitions.ensureThrough(stream, 1_000_000_000);
    assertThat(numbers()).containsExactly(0L, 1L, 9_999_999L, 10_000_000L);
    // a writer that was slow still gets the one it needs
    partitions.ensureThrough(stream, 301);
    assertThat(numbers()).containsExactly(0L, 1L, 3L, 4L, 9_999_999L, 10_000_000L);
    partitions.ensureThrough(stream, Long.MAX_VALUE - 1);
    assertThat(bounds()).last().asString().endsWith("TO ('9223372036854775807')");
  }

  @Test
  void onesThatWereDroppedBelowAreNotMadeAgain() throws SQLException {
    sql("DROP TABLE {s}.message_log_{n}_0");
    partitions.ensureThrough(stream, 201);
    assertThat(numbers()).containsExactly(1L, 2L, 3L);
    sql("DROP TABLE {s}.message_log_{n}_1, {s}.message_log_{n}_2, {s}.message_log_{n}_3");
    partitions.ensureThrough(stream, 501);
    assertThat(numbers()).containsExactly(5L, 6L);
  }

  @Test
  void aPartitionIsLikeTheParent() throws SQLException {
    partitions.ensureThrough(stream, 201);
    String columns =
        "SELECT attname, format_type(atttypid, atttypmod), attnotnull, attidentity, attstorage,"
            + " pg_get_expr(adbin, adrelid) FROM pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid"
            + " AND adnum = attnum WHERE attrelid = '{s}.message_log_{n}%s'::regclass AND attnum > 0"
            + " ORDER BY attnum";
    assertThat(rows(columns.formatted("_2")))
        .isEqualTo(rows(columns.formatted("")))
        .anyMatch(
            column ->
                column.startsWith("id bigint t")
                    && column.contains("message_log_" + stream.id() + "_id_seq"));
    // the one sequence, the parent's; no check is left over; each index belongs to one of the
    // parent's
    assertThat(
            rows(
                "SELECT count(*) FROM pg_class WHERE relkind = 'S' AND relname LIKE 'message_log_{n}\\_%' AND relnamespace = '{s}'::regnamespace"))
        .containsExactly("1");
    assertThat(
            rows(
                "SELECT conname FROM pg_constraint WHERE contype = 'c' AND conrelid = '{s}.message_log_{n}_2'::regclass"))
        .isEmpty();
    assertThat(
            rows(
                "SELECT parent.relname FROM pg_index JOIN pg_inherits ON inhrelid = indexrelid JOIN pg_class AS parent"
                    + " ON parent.oid = inhparent WHERE indrelid = '{s}.message_log_{n}_2'::regclass ORDER BY 1"))
        .containsExactly(
            "message_log_" + stream.id() + "_message_key_idx",
            "message_log_" + stream.id() + "_pkey");
    assertThat(
            rows(
                "SELECT count(*) FROM pg_index WHERE indrelid = '{s}.message_log_{n}_2'::regclass"))
        .containsExactly("2");
  }

  @Test
  void ofEveryPayloadType() throws SQLException {
    for (PayloadType type : PayloadType.values()) {
      StreamInfo other =
          client.stream("t." + type)
              .register(StreamConfig.defaults().withPartitionSize(100).withPayloadType(type));
      partitions.ensureThrough(other, 301);
      assertThat(
              Sql.rows(
                  database.dataSource(),
                  "SELECT format_type(atttypid, -1) FROM pg_attribute WHERE attname = 'payload' AND attrelid = '"
                      + database.schema()
                      + ".message_log_"
                      + other.id()
                      + "_3'::regclass"))
          .containsExactly(type.sqlName());
      client.stream("t." + type).destroy();
    }
  }

  @Test
  void neitherAnOpenWriterNorAnOpenReaderIsInTheWay() throws SQLException {
    try (Connection writer = database.dataSource().getConnection();
        Connection reader = database.dataSource().getConnection();
        Connection hostile = database.hostile().getConnection()) {
      writer.setAutoCommit(false);
      reader.setAutoCommit(false);
      reader.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
      insert(writer, 100);
      assertThat(Sql.rows(reader, on("SELECT count(*) FROM {s}.message_log_{n}")))
          .containsExactly("0");
      insert(hostile, 1);

      long begun = System.nanoTime();
      partitions.ensureThrough(stream, 350);
      assertThat((System.nanoTime() - begun) / 1_000_000).isLessThan(1_500);
      assertThat(numbers()).containsExactly(0L, 1L, 2L, 3L, 4L);

      // the open ones go on, the writer into the new partitions
      insert(writer, 300);
      assertThat(Sql.rows(reader, on("SELECT count(*) FROM {s}.message_log_{n}")))
          .containsExactly("0");
      writer.commit();
      hostile.commit();
      reader.commit();
    }
    assertThat(rows("SELECT count(*), max(id) FROM {s}.message_log_{n}"))
        .containsExactly("401 401");
    assertThat(rows("SELECT count(*) FROM {s}.message_log_{n}_3")).containsExactly("100");
  }

  @Test
  void theWriterThatFoundNoneHealsItselfWhileItIsOpen() throws SQLException {
    try (Connection writer = database.dataSource().getConnection()) {
      writer.setAutoCommit(false);
      insert(writer, 200);
      java.sql.Savepoint before = writer.setSavepoint();
      assertThatThrownBy(() -> insert(writer, 1)).hasMessageContaining("no partition");
      writer.rollback(before);
      partitions.ensureThrough(stream, 201);
      insert(writer, 1);
      writer.commit();
    }
    // the id of the failed one is gone
    assertThat(rows("SELECT count(*), max(id) FROM {s}.message_log_{n}"))
        .containsExactly("201 202");
  }

  @Test
  void manyHealAtOnce() throws Exception {
    int count = 12;
    ExecutorService threads = Executors.newFixedThreadPool(count);
    try {
      for (int round = 1; round <= 20; round++) {
        long id = round * 300L;
        CyclicBarrier start = new CyclicBarrier(count);
        List<Future<?>> all = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          // as if each were a process of its own
          Partitions own = partitions(i % 2 == 0 ? database.dataSource() : database.hostile());
          all.add(
              threads.submit(
                  () -> {
                    start.await();
                    own.ensureThrough(stream, id);
                    return null;
                  }));
        }
        for (Future<?> one : all) {
          one.get();
        }
        assertThat(numbers()).hasSize(round * 3 + 1);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  @Test
  void aLockInTheWayIsGivenUpWithAClearError() throws SQLException {
    try (Connection other = database.dataSource().getConnection()) {
      other.setAutoCommit(false);
      Sql.execute(other, on("LOCK TABLE {s}.message_log_{n} IN SHARE UPDATE EXCLUSIVE MODE"));
      assertThatThrownBy(() -> partitions.ensureThrough(stream, 201))
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(
              e -> {
                assertThat(e.code()).isEqualTo(ErrorCode.CONTENTION);
                assertThat(e).hasMessageContaining("create partitions of stream \"s\"");
              });
      // there is nothing to do below, so nothing is waited for
      partitions.ensureThrough(stream, 100);
      other.rollback();
    }
    assertThat(numbers()).containsExactly(0L, 1L);
    partitions.ensureThrough(stream, 201);
    assertThat(numbers()).containsExactly(0L, 1L, 2L, 3L);
  }

  private Partitions partitions(DataSource source) {
    return new Partitions(new Database(source, database.schema()), Scope.system(database.schema()));
  }

  private void insert(Connection connection, int count) throws SQLException {
    Sql.execute(
        connection,
        on(
            "INSERT INTO {s}.message_log_{n} (schema_version, payload) SELECT 1, '{}' FROM generate_series(1, "
                + count
                + ")"));
  }

  private List<Long> numbers() throws SQLException {
    return bounds().stream().map(row -> Long.valueOf(row.substring(0, row.indexOf(' ')))).toList();
  }

  private List<String> bounds() throws SQLException {
    return rows(
        "SELECT substring(relname FROM '[0-9]+$')::bigint AS number, pg_get_expr(relpartbound, oid) FROM pg_class"
            + " JOIN pg_inherits ON inhrelid = oid WHERE inhparent = '{s}.message_log_{n}'::regclass ORDER BY number");
  }

  private List<String> rows(String sql) throws SQLException {
    return Sql.rows(database.dataSource(), on(sql));
  }

  private void sql(String sql) throws SQLException {
    Sql.execute(database.dataSource(), on(sql));
  }

  private String on(String sql) {
    return sql.replace("{s}", database.schema()).replace("{n}", Long.toString(stream.id()));
  }
}
