package io.sqlstreams.internal.produce;

import static io.sqlstreams.internal.produce.ProduceLab.json;
import static io.sqlstreams.internal.produce.ProduceLab.numbered;
import static io.sqlstreams.internal.produce.ProduceLab.withKey;
import static io.sqlstreams.internal.produce.ProduceLab.withKeys;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Produced;
import io.sqlstreams.Producer;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.OutcomeUnknownException;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Relay;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** b56: the connection is lost around the commit of a produce. */
@SqlStreamsTest
class LostCommitIT {
  private static final int FEW = 3;
  private static final int MANY = LogWriter.COPY_MESSAGES;

  TestDatabase database;
  private Relay relay;
  private HikariDataSource pool;
  private ProduceLab lab;
  private StreamInfo stream;
  private Producer<RawPayload> producer;

  @BeforeEach
  void open() throws IOException {
    relay = new Relay(database.jdbcUrl());
    pool = TestPool.of(relay.dataSource(), 4);
    lab = new ProduceLab(database, pool);
    stream = lab.register();
    producer = lab.producer(stream);
    producer.produce(json("\"before\"")); // finds the stream
  }

  @AfterEach
  void close() {
    relay.close();
    lab.close();
    pool.close();
  }

  private long written() {
    return lab.count(stream) - 1;
  }

  private void isThereOnce(List<Produced> produced) {
    assertThat(written()).isEqualTo(produced.size());
    assertThat(lab.rows(stream).stream().skip(1).map(ProduceLab.Row::id))
        .isEqualTo(produced.stream().map(Produced::id).toList());
    assertThat(lab.payloads(stream).stream().skip(1))
        .isEqualTo(IntStream.range(0, produced.size()).mapToObj(Integer::toString).toList());
  }

  @ParameterizedTest
  @CsvSource({
    "BEFORE_COMMIT, 3, 1",
    "AFTER_COMMIT, 3, 1",
    "BEFORE_COMMIT, 200, 1",
    "AFTER_COMMIT, 200, 1",
    "BEFORE_COMMIT, 3, 4",
    "AFTER_COMMIT, 200, 4"
  })
  void b56_withKeysItIsWrittenOnce(Relay.Cut cut, int count, int cuts) {
    relay.cut(cut, cuts, "");
    List<Produced> produced = producer.produceAll(withKeys("k", count));
    isThereOnce(produced);
    assertThat(relay.cuts()).isEqualTo(cuts);
    assertThat(produced)
        .extracting(Produced::duplicate)
        .as("a message that was written, but whose receipt was lost, is its own duplicate")
        .containsOnly(cut == Relay.Cut.AFTER_COMMIT);
    assertThat(produced).extracting(Produced::samePayload).containsOnly(true);
  }

  @ParameterizedTest
  @CsvSource({
    "BEFORE_COMMIT, 1, false",
    "AFTER_COMMIT, 1, false",
    "BEFORE_COMMIT, 3, false",
    "AFTER_COMMIT, 1, true",
    "BEFORE_COMMIT, 2, true"
  })
  void b56_manyWithoutKeysAreFoundByTheirTransaction(Relay.Cut cut, int cuts, boolean someKeys) {
    List<Outgoing<RawPayload>> messages = new ArrayList<>(numbered(MANY));
    if (someKeys) {
      messages.set(7, withKey("k", "7"));
    }
    relay.cut(cut, cuts, "");
    List<Produced> produced = producer.produceAll(messages);
    isThereOnce(produced);
    assertThat(produced).extracting(Produced::duplicate).containsOnly(false);
    assertThat(relay.cuts()).isEqualTo(cuts);
  }

  @ParameterizedTest
  @EnumSource(Relay.Cut.class)
  void b56_aFewWithoutKeysAreNeverSentAgain(Relay.Cut cut) {
    for (boolean someKeys : new boolean[] {false, true}) {
      long before = written();
      List<Outgoing<RawPayload>> messages = new ArrayList<>(numbered(FEW));
      if (someKeys) {
        messages.set(1, withKey("k", "1"));
      }
      relay.cut(cut, 1, "");
      assertThatThrownBy(() -> producer.produceAll(messages))
          .isInstanceOf(OutcomeUnknownException.class);
      assertThat(written() - before).isEqualTo(cut == Relay.Cut.AFTER_COMMIT ? FEW : 0);
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void b56_aConnectionThatIsLostInMidCopyHasWrittenNothing(boolean keys) {
    List<Outgoing<RawPayload>> messages = keys ? withKeys("k", 20_000) : numbered(20_000);
    for (int bytes : new int[] {0, 300_000}) {
      relay.cutInCopy(1, bytes);
      assertThatThrownBy(() -> producer.produceAll(messages))
          .asInstanceOf(type(DatabaseException.class))
          .satisfies(e -> assertThat(e.code()).isEqualTo(ErrorCode.DATABASE_UNREACHABLE))
          .satisfies(e -> assertThat(e.retryable()).isTrue());
      assertThat(written()).isZero();
    }
    assertThat(relay.cuts()).isEqualTo(2);
    isThereOnce(producer.produceAll(messages));
  }

  /** The server still waits for the commit, and holds the keys. */
  @ParameterizedTest
  @CsvSource({"200, false", "200, true", "3, true"})
  void b56_anOpenTransactionIsWaitedForAWhileAndThenItIsUnknown(int count, boolean keys)
      throws Exception {
    List<Outgoing<RawPayload>> messages = keys ? withKeys("k", count) : numbered(count);
    relay.cutUnnoticed(1);
    long begun = System.nanoTime();
    assertThatThrownBy(() -> producer.produceAll(messages))
        .isInstanceOf(OutcomeUnknownException.class);
    assertThat(System.nanoTime() - begun)
        .isBetween(LostCommits.PATIENCE.toNanos() / 2, LostCommits.PATIENCE.toNanos() * 3);
    assertThat(written()).isZero();
  }

  @Test
  void b56_anOpenTransactionThatEndsInTimeIsNoted() throws Exception {
    relay.cutUnnoticed(1);
    CompletableFuture<List<Produced>> produced =
        CompletableFuture.supplyAsync(() -> producer.produceAll(numbered(MANY)));
    String open =
        " FROM pg_stat_activity WHERE state = 'idle in transaction' AND query LIKE '%produce_many%'";
    Await.until("the commit is awaited", () -> lab.number("SELECT count(*)" + open) > 0);
    lab.number("SELECT count(pg_terminate_backend(pid))" + open);
    isThereOnce(produced.get(10, SECONDS));
  }

  @Test
  void b56_amongMessagesThatAreCommittedTogetherThoseWithKeysAreWrittenOnce() throws Exception {
    List<CompletableFuture<Produced>> keyed = new ArrayList<>();
    List<CompletableFuture<Produced>> others = new ArrayList<>();
    try (Connection blocker = lab.connect()) {
      blocker.setAutoCommit(false);
      ProduceLab.execute(blocker, "LOCK TABLE ONLY " + lab.log(stream) + " IN SHARE MODE");
      others.add(producer.produceAsync(json("\"alone\"")));
      for (int i = 0; i < 10; i++) {
        Outgoing<RawPayload> message = withKey("k" + i, Integer.toString(i));
        keyed.add(producer.produceAsync(message.payload(), message.options()));
        others.add(producer.produceAsync(json("\"none\"")));
      }
      relay.cut(Relay.Cut.AFTER_COMMIT, 1, "produce_keyed");
      blocker.rollback();
    }
    for (CompletableFuture<Produced> each : keyed) {
      assertThat(each.get(20, SECONDS).samePayload()).isTrue();
    }
    int unknown = 0;
    for (CompletableFuture<Produced> each : others) {
      try {
        each.get(20, SECONDS);
      } catch (ExecutionException e) {
        assertThat(e).hasCauseInstanceOf(OutcomeUnknownException.class);
        unknown++;
      }
    }
    assertThat(unknown).isPositive();
    assertThat(relay.cuts()).isEqualTo(1);
    assertThat(written()).isEqualTo(21);
  }

  /** The caller's connection is the caller's, and so is what became of it. */
  @ParameterizedTest
  @ValueSource(ints = {FEW, MANY})
  void b56_onACallersConnectionInAutoCommitModeItIsUnknown(int count) throws SQLException {
    try (Connection connection = pool.getConnection()) {
      relay.cut(Relay.Cut.AFTER_COMMIT, 1, "");
      assertThatThrownBy(() -> producer.in(connection).produceAll(withKeys("k", count)))
          .isInstanceOf(OutcomeUnknownException.class);
    }
    assertThat(written()).isEqualTo(count);
    isThereOnce(producer.produceAll(withKeys("k", count)));
  }

  @Test
  void b56_theWorkOfInTransactionIsTheCallers() {
    relay.cut(Relay.Cut.AFTER_COMMIT, 1, "");
    assertThatThrownBy(
            () ->
                lab.client()
                    .inTransaction(
                        connection -> producer.in(connection).produceAll(withKeys("k", FEW))))
        .isInstanceOf(OutcomeUnknownException.class);
    assertThat(written()).isEqualTo(FEW);
  }

  /** A look at originals comes after the commit; when it is lost, the write isn't. */
  @Test
  void b56_aComparisonThatIsLostIsMadeAgain() {
    producer.produceAll(withKeys("k", 1));
    relay.cut(Relay.Cut.BEFORE_COMMIT, 1, "compare_with_originals");
    List<Produced> produced = producer.produceAll(withKeys("k", FEW));
    assertThat(relay.cuts()).isEqualTo(1);
    isThereOnce(produced);
    relay.cut(Relay.Cut.BEFORE_COMMIT, 1, "compare_with_originals");
    assertThatThrownBy(
            () -> producer.produceAll(List.of(withKey("k-0", "0"), Outgoing.of(json("3")))))
        .isInstanceOf(OutcomeUnknownException.class);
    assertThat(lab.payloads(stream)).endsWith("2", "3");
  }

  /** Connections are ended at any moment. */
  @ParameterizedTest
  @ValueSource(ints = {FEW, MANY})
  void b56_whateverBreaksAKeyIsWrittenOnce(int count) throws Exception {
    CompletableFuture<Void> killer =
        CompletableFuture.runAsync(
            () -> {
              for (int i = 0; i < 60; i++) {
                lab.query(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                        + " AND query LIKE '%message_log_"
                        + stream.id()
                        + "%'",
                    row -> row.getBoolean(1));
                LockSupport.parkNanos(5_000_000);
              }
            });
    int rounds = 0;
    while (!killer.isDone()) {
      List<Outgoing<RawPayload>> messages = withKeys("r" + rounds, count);
      boolean done = false;
      while (!done) {
        try {
          producer.produceAll(messages);
          done = true;
        } catch (DatabaseException e) {
          assertThat(e.code()).isEqualTo(ErrorCode.DATABASE_UNREACHABLE);
        }
      }
      rounds++;
    }
    killer.join();
    assertThat(written()).isEqualTo((long) rounds * count);
  }
}
