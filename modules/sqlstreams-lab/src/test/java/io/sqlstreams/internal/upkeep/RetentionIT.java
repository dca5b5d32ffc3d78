package io.sqlstreams.internal.upkeep;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.ConsumerGroup;
import io.sqlstreams.Outcome;
import io.sqlstreams.Outgoing;
import io.sqlstreams.Producer;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamUpkeep;
import io.sqlstreams.UpkeepRun;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ExceptionFilter;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.error.NotRetainedException;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Partitions come ahead of need and go when their time is over, step by step. */
@SqlStreamsTest
class RetentionIT {
  private static final StreamConfig HOUR =
      StreamConfig.defaults().withPartitionSize(100).withRetention(Duration.ofHours(1));
  private static final StreamConfig LOSSY = HOUR.withAllowDropPastCommitted(true);

  TestDatabase database;
  SqlStreams client;
  TestStream stream;
  Keeper keeper;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    use(HOUR);
  }

  @AfterEach
  void close() {
    client.close();
  }

  private void use(StreamConfig config) {
    stream = TestStream.register(database, config, GroupConfig.defaults());
    keeper = Keeper.of(stream);
  }

  // ---- ahead of need

  @Test
  void theNextPartitionIsThereAsSoonAsTheLastIsBegun() {
    keeper.turn();
    assertThat(partitions()).containsExactly("1-100", "101-200");
    stream.produce(101);
    assertThat(keeper.tries()).isEmpty();
    assertThat(partitions()).containsExactly("1-100", "101-200", "201-300");
    stream.produce(99);
    keeper.turn();
    assertThat(partitions()).hasSize(3);
  }

  @Test
  void noMessageIsRefusedWhenAllUpkeepWasOff() {
    for (int i = 0; i < 12; i++) {
      producer().produceAll(batch(90));
    }
    assertThat(stream.number("SELECT count(*) FROM {log}")).isEqualTo(1_080);
    keeper.turn();
    assertThat(partitions()).contains("1101-1200");
  }

  // ---- what goes, and what stays

  @Test
  void aPartitionGoesWhenItsTimeIsOverAndTheGroupHasPassedIt() {
    produces250();
    readAll();
    keeper.turn();
    assertThat(partitions()).as("not old").contains("1-100");
    age("id <= 200");
    keeper.turn();
    assertThat(partitions()).containsExactly("201-300", "301-400");
    assertThat(tables()).containsExactly(2L, 3L);
    assertThat(upkeep().floor()).isEqualTo(200);
    assertThat(operations()).isEmpty();
  }

  @Test
  void b30_aQuietStreamLosesItsLastPartitionToo() {
    stream.produce(50);
    readAll();
    age("true");
    keeper.turn();
    assertThat(stream.number("SELECT count(*) FROM {log}")).isZero();
    assertThat(partitions()).doesNotContain("1-100");
    keeper.turn().turn();
    assertThat(partitions()).as("the one that follows").containsExactly("101-200", "201-300");
    // it goes on as if nothing had been
    List<Long> later = stream.produce(3);
    assertThat(later.get(0)).isGreaterThan(100);
    assertThat(new StepReader(stream).polls(3)).isEqualTo(later);
  }

  @Test
  void aStreamThatIsKeptForEverKeepsAll() {
    use(StreamConfig.defaults().withPartitionSize(100));
    produces250();
    readAll();
    age("true");
    keeper.turn();
    assertThat(stream.number("SELECT count(*) FROM {log}")).isEqualTo(250);
    assertThat(upkeep().nextExpiry()).isNull();
  }

  /** The order of the ids isn't that of time. */
  @Test
  void b27_oneYoungMessageAmongOldOnesKeepsThePartition() {
    produces250();
    readAll();
    age("id <> 30");
    keeper.turn();
    assertThat(partitions()).contains("1-100");
    age("true");
    keeper.turn();
    assertThat(partitions()).doesNotContain("1-100", "101-200");
  }

  /** What a partition holds says the catalog, not its name or the size of others. */
  @Test
  void b27_aPartitionOfOtherBoundsAndAnyNameIsJudgedByThem() {
    stream.execute("ALTER TABLE {log} DETACH PARTITION {log}_1; DROP TABLE {log}_1");
    stream.execute(
        "CREATE TABLE {schema}.\"Odd:name?\" PARTITION OF {log} FOR VALUES FROM (101) TO (1001)");
    stream.produce(950);
    readAll();
    age("id < 950");
    keeper.turn();
    assertThat(partitions()).startsWith("101-1000");
    assertThat(stream.number("SELECT min(id) FROM {log}")).isEqualTo(101);
    stream.produce(100);
    readAll();
    age("id <= 1000");
    keeper.turn();
    assertThat(partitions()).startsWith("1001-1100");
    assertThat(stream.number("SELECT count(*) FROM pg_class WHERE relname = 'Odd:name?'")).isZero();
  }

  @Test
  void aGroupThatHasNotPassedHoldsItBackAndIsNamed() {
    stream.produce(150);
    age("true");
    keeper.turn();
    assertThat(partitions()).contains("1-100");
    StreamUpkeep upkeep = upkeep();
    assertThat(upkeep.heldBy()).containsExactly("g");
    assertThat(upkeep.floor()).isZero();
    assertThat(upkeep.nextExpiry()).isNotNull();
    assertThat(upkeep.succeededAt()).isNotNull();
    readAll();
    keeper.turn();
    assertThat(upkeep().heldBy()).isEmpty();
    assertThat(partitions()).doesNotContain("1-100");
  }

  /** A message that is still to be delivered keeps its partition, a dead one doesn't. */
  @Test
  void anUnresolvedMessageHoldsItBackAndADeadOneGoesOnRecord() {
    stream.produce(150);
    readAll();
    age("true");
    exception(20, "ready");
    exception(21, "dead");
    stream.execute("UPDATE {cursor} SET committed = 19");
    keeper.turn();
    assertThat(partitions()).contains("1-100");
    stream.execute("DELETE FROM {queue} WHERE message_id = 20");
    advance();
    keeper.turn();
    assertThat(partitions()).doesNotContain("1-100");
    assertThat(operations()).containsExactly("0|0|1|21|21");
    assertThat(stream.number("SELECT count(*) FROM {queue}"))
        .as("it went with its message")
        .isZero();
  }

  // ---- losing what was not read

  @Test
  void b28_aGroupThatIsTooLateIsToldWhatItLost() {
    use(LOSSY.withAllowDropPastCommitted(true));
    produces250();
    stream.execute("DELETE FROM {log} WHERE id IN (3, 4)");
    age("id <= 200");
    keeper.turn();
    assertThat(partitions()).startsWith("201-300");
    assertThat(operations()).containsExactly("98|0|0|1|100", "100|0|0|101|200");
    assertThat(stream.rows("SELECT claimed, committed FROM {cursor}")).containsExactly("200|200");
    assertThat(new StepReader(stream).polls(2)).hasSize(50).startsWith(201L);
  }

  /** Case B28: each state of a message has its place in the event, and nothing loops afterwards. */
  @Test
  void b28_whatWasUnderWayEndsGracefully() {
    use(LOSSY);
    stream.produce(150);
    age("true");
    // claimed up to 40: 1 to 10 by a session that lives, 11 to 20 by one that is gone, the rest
    // done but for exceptions
    stream.execute("UPDATE {cursor} SET claimed = 40, committed = 0");
    lease(0, 10, "now() + INTERVAL '1 hour'");
    lease(10, 20, "now() - INTERVAL '1 second'");
    exception(31, "ready");
    exception(32, "deferred");
    exception(33, "dead");
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after, lease_token, lease_expires_at)"
            + " VALUES (%d, 34, 'inflight', 'parallel', 0, now(), gen_random_uuid(), now() + INTERVAL '1 hour')"
                .formatted(stream.group().id()));
    // messages 101 to 150 are young, for they are in the partition that is current
    stream.execute("UPDATE {log} SET created_at = now() WHERE id > 100");
    keeper.turn();
    assertThat(operations())
        .as("unread 60 unclaimed + 10 of the gone + 2 waiting; 10 + 1 in flight; 1 dead")
        .containsExactly("72|11|1|1|100");
    assertThat(stream.rows("SELECT claimed, committed FROM {cursor}")).containsExactly("100|100");
    assertThat(stream.rows("SELECT low, high FROM {lease}")).containsExactly("100|100", "100|100");
    assertThat(stream.rows("SELECT message_id, status FROM {queue}"))
        .containsExactly("34|inflight");
    // the attempt fails later: it is swept, and on record
    stream.execute(
        "UPDATE {queue} SET status = 'ready', attempts = 1, lease_token = NULL, lease_expires_at = NULL");
    keeper.turn();
    assertThat(stream.number("SELECT count(*) FROM {queue}")).isZero();
    assertThat(operations()).containsExactly("72|11|1|1|100", "1|0|0|34|34");
    // what the dead session has left dissolves, and the group goes on
    stream.execute("DELETE FROM {lease} WHERE expires_at > now()");
    StepReader reader = new StepReader(stream);
    Consumer consumer = Consumer.start(client, stream, message -> Outcome.done());
    try (consumer) {
      consumer.awaitReceived(50);
    }
    assertThat(consumer.ids()).hasSize(50).allMatch(id -> id > 100);
    assertThat(reader.polls(1)).isEmpty();
  }

  @Test
  void b29_theLagIsWhatCanBeRead() {
    use(LOSSY);
    for (int i = 0; i < 20; i++) {
      stream.produce(7);
      try (NamedTransaction writer = stream.begin("writer")) {
        writer.inserts();
        writer.inserts();
        writer.inserts();
        writer.rollsBack();
      }
    }
    assertThat(group().snapshot().lag().messages()).isEqualTo(140);
    age("id <= 100");
    keeper.turn();
    assertThat(group().snapshot().lag().messages())
        .isEqualTo(stream.number("SELECT count(*) FROM {log} WHERE id > 100"));
    age("true");
    keeper.turn();
    assertThat(stream.number("SELECT count(*) FROM {log}")).isZero();
    assertThat(group().snapshot().lag().messages()).isZero();
  }

  // ---- compaction

  /** Without its message, a head of a high rank would keep all that come later from being read. */
  @Test
  void aHeadGoesWithItsMessage() {
    producer().produce(RawPayload.of("{\"v\":10}"), ProduceOptions.key("k").withCompaction(10));
    stream.produce(120);
    readAll();
    age("true");
    keeper.turn();
    assertThat(stream.number("SELECT count(*) FROM {heads}")).isZero();
    producer().produce(RawPayload.of("{\"v\":1}"), ProduceOptions.key("k").withCompaction(1));
    assertThat(new StepReader(stream).polls(2)).hasSize(1);
    assertThat(client.stream(stream.name()).key("k").head()).isPresent();
  }

  // ---- interleavings

  /** A writer that has drawn an id of an old partition brings a message that nobody may lose. */
  @Test
  void aWriterThatIsStillOpenKeepsThePartitionOfItsId() {
    try (NamedTransaction writer = stream.begin("writer")) {
      long slow = writer.inserts();
      stream.produce(150);
      age("true");
      stream.execute("UPDATE {cursor} SET claimed = 0");
      // as a group that began at the head
      stream.execute("UPDATE {cursor} SET claimed = 150, committed = 150");
      keeper.turn().turn();
      assertThat(upkeep().floor()).as("the writer is open").isZero();
      writer.runs("UPDATE {log}_0 SET created_at = now() - INTERVAL '2 hours' WHERE id = " + slow);
      writer.commits();
    }
    // a rewind finds it
    group().rewind(Start.beginning());
    keeper.turn();
    assertThat(upkeep().floor()).isZero();
    assertThat(new StepReader(stream).polls(3)).startsWith(1L).hasSize(151);
    stream.execute("DELETE FROM {lease}; UPDATE {cursor} SET committed = claimed");
    keeper.turn();
    assertThat(upkeep().floor()).as("the last partition's time is over too").isEqualTo(200);
  }

  /** Among writers that come and go, those that were there first are waited for alone. */
  @Test
  void aBusyLogIsSettledAfterTwoLooks() {
    stream.produce(150);
    readAll();
    age("true");
    NamedTransaction one = stream.begin("one");
    one.inserts();
    keeper.turn();
    assertThat(upkeep().floor()).isZero();
    try (NamedTransaction two = stream.begin("two")) {
      two.inserts();
      one.commits();
      keeper.turn();
      assertThat(upkeep().floor()).isEqualTo(100);
    }
  }

  @Test
  void aRewindThatCameFirstIsAsked() {
    stream.produce(150);
    readAll();
    age("true");
    try (NamedTransaction rewind = stream.begin("rewind")) {
      rewind.runs("SELECT FROM {cursor} FOR UPDATE");
      assertThat(keeper.tries()).as("its lock is in the way").hasSize(1);
      rewind.runs("UPDATE {cursor} SET claimed = 10, committed = 10, rewinds = rewinds + 1");
      rewind.commits();
    }
    keeper.turn();
    assertThat(upkeep().floor()).isZero();
    assertThat(new StepReader(stream).polls(1)).hasSize(140);
  }

  /**
   * Between the announcement and the end of the partition its messages are there, and count no
   * more.
   */
  @Test
  void whoComesAfterTheAnnouncementKnowsTheFloor() {
    producer().produce(RawPayload.of("{}"), ProduceOptions.key("k").withCompaction(10));
    stream.produce(150);
    readAll();
    exception(30, "dead");
    age("true");
    try (NamedTransaction holder = stream.begin("holder")) {
      holder.runs("SELECT FROM {heads} FOR UPDATE");
      keeper.tries();
      assertThat(upkeep().floor()).isEqualTo(100);
      assertThat(partitions()).contains("1-100");

      assertThatThrownBy(() -> group().rewind(Start.after(20)))
          .isInstanceOf(NotRetainedException.class);
      assertThat(group().previewRewind(Start.beginning()).position()).isEqualTo(100);
      ConsumerGroup<RawPayload> late = client.stream(stream.name()).group("late");
      assertThatThrownBy(() -> late.register(GroupConfig.defaults().withStart(Start.after(20))))
          .isInstanceOf(NotRetainedException.class);
      late.register(GroupConfig.defaults());
      assertThat(
              stream.longs("SELECT claimed FROM {cursor} ORDER BY consumer_group_id DESC").get(0))
          .isEqualTo(100);
      assertThat(group().exceptions().redrive(ExceptionFilter.all(), 10))
          .as("its message goes")
          .isZero();
    }
    keeper.turn();
    assertThat(partitions()).doesNotContain("1-100");
  }

  /** A group that begins above the floor is seen by the announcement, or sees it. */
  @Test
  void aGroupThatIsBeingRegisteredIsWaitedFor() {
    stream.produce(150);
    readAll();
    age("true");
    try (NamedTransaction register = stream.begin("register")) {
      register.runs(
          "SELECT FROM {schema}.stream_upkeep WHERE stream_id = "
              + stream.info().id()
              + " FOR SHARE");
      long id =
          register.number(
              "INSERT INTO {schema}.consumer_group_config (stream_id, name, start_position) VALUES ("
                  + stream.info().id()
                  + ", 'new', 'after 20') RETURNING id");
      register.runs(
          "INSERT INTO {cursor} (consumer_group_id, claimed, committed) VALUES ("
              + id
              + ", 20, 20)");
      assertThat(keeper.tries()).hasSize(1);
      register.commits();
    }
    keeper.turn();
    assertThat(upkeep().floor()).isZero();
    assertThat(upkeep().heldBy()).containsExactly("new");
  }

  // ---- in the way

  /** Case B25: an open reader holds up the end of a partition, and nothing else. */
  @Test
  void b25_anOpenReaderIsInNobodysWay() {
    stream.produce(150);
    readAll();
    age("true");
    try (NamedTransaction reader = stream.begin("reader")) {
      reader.runs("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
      assertThat(reader.number("SELECT count(*) FROM {log}")).isEqualTo(150);
      keeper.tries();
      assertThat(upkeep().floor()).isEqualTo(100);
      assertThat(upkeep().partitions().get(0).isDetaching()).isTrue();
      // produce, claim, and the next partition go on
      producer().produceAll(batch(90));
      assertThat(new StepReader(stream).polls(2)).hasSize(90);
      keeper.tries();
      assertThat(partitions()).contains("301-400");
      // whoever looks anew sees what is left, the reader what it saw
      assertThat(stream.number("SELECT count(*) FROM {log}")).isEqualTo(140);
      assertThat(reader.number("SELECT count(*) FROM {log}")).isEqualTo(150);
      reader.commits();
    }
    keeper.turn();
    assertThat(partitions()).startsWith("101-200");
    assertThat(tables()).doesNotContain(0L);
  }

  @Test
  void whatCouldNotBeDroppedIsDroppedLaterAndWhatOthersKeptIsKept() {
    produces250();
    readAll();
    age("id <= 200");
    stream.execute("ALTER TABLE {log} DETACH PARTITION {log}_0");
    stream.execute("COMMENT ON TABLE {log}_1 IS NULL");
    keeper.turn();
    assertThat(tables()).as("somebody has detached 0 to keep it").containsExactly(0L, 2L, 3L);

    age("true");
    stream.produce(60);
    readAll();
    // as if the process had ended right before the drop
    stream.execute("ALTER TABLE {log} DETACH PARTITION {log}_2");
    stream.execute(
        "COMMENT ON TABLE {log}_2 IS 'sqlstreams: given up by retention of stream "
            + stream.info().id()
            + "'");
    keeper.turn();
    assertThat(tables()).contains(0L).doesNotContain(2L);
  }

  /** Case B30: one stream that is stuck stops no other, is reported, and recovers by itself. */
  @Test
  void b30_aStuckStreamStopsNoOtherAndIsReported() throws Exception {
    TestStream other = TestStream.register(database, HOUR, GroupConfig.defaults());
    try (HikariDataSource two = TestPool.of(database.dataSource(), 2);
        Connection lock = stream.unpooled()) {
      Keeper both = Keeper.of(two, stream, other);
      stream.produce(150);
      other.produce(150);
      lock.setAutoCommit(false);
      lock.createStatement().execute(stream.sql("LOCK TABLE {log} IN SHARE UPDATE EXCLUSIVE MODE"));
      for (int i = 0; i < 4; i++) {
        Map<Long, RuntimeException> errors = both.tries();
        assertThat(errors).containsOnlyKeys(stream.info().id());
      }
      assertThat(
              other.number("SELECT count(*) FROM pg_inherits WHERE inhparent = '{log}'::regclass"))
          .isEqualTo(3);
      StreamUpkeep upkeep = upkeep();
      assertThat(upkeep.failures()).isEqualTo(4);
      assertThat(upkeep.failingSince()).isNotNull();
      assertThat(upkeep.lastError()).contains("partitions", "lock timeout");
      lock.rollback();
      both.turn();
      assertThat(partitions()).hasSize(3);
      assertThat(upkeep().failures()).isZero();
      assertThat(upkeep().failingSince()).isNull();
    }
  }

  /** The verb does without workers what they do. */
  @Test
  void itCanBeRunByHand() {
    stream.produce(150);
    readAll();
    age("true");
    UpkeepRun run = client.stream(stream.name()).runUpkeep();
    assertThat(run.partitionsCreated()).isEqualTo(1);
    assertThat(run.partitionsDropped()).isGreaterThanOrEqualTo(1);
    assertThat(client.stream(stream.name()).runUpkeep().partitionsCreated()).isLessThan(2);
  }

  // ---- steps

  private Producer<RawPayload> producer() {
    return client.stream(stream.name()).producer();
  }

  private ConsumerGroup<RawPayload> group() {
    return client.stream(stream.name()).group("g");
  }

  private StreamUpkeep upkeep() {
    return client.stream(stream.name()).upkeep();
  }

  /** Ids 1 to 250, which takes a third partition. */
  private void produces250() {
    stream.produce(150);
    keeper.turn();
    stream.produce(100);
  }

  private static List<Outgoing<RawPayload>> batch(int messages) {
    return Collections.nCopies(messages, Outgoing.of(RawPayload.of("{}")));
  }

  /** The group has read and finished everything. */
  private void readAll() {
    new StepReader(stream).polls(5);
    stream.execute("DELETE FROM {lease}");
    stream.execute("UPDATE {cursor} SET committed = claimed");
  }

  private void advance() {
    new CursorAdvancer(
            new Database(stream.dataSource(), database.schema()), Scope.system(database.schema()))
        .perform(Keeper.posts(1));
  }

  /** Makes messages two hours old. */
  private void age(String which) {
    stream.execute("UPDATE {log} SET created_at = now() - INTERVAL '2 hours' WHERE " + which);
  }

  private void exception(long id, String status) {
    stream.execute(
        "INSERT INTO {queue} (consumer_group_id, message_id, status, concurrency, attempts, can_run_after)"
            + " VALUES (%d, %d, '%s', 'parallel', 1, now() + INTERVAL '1 hour')"
                .formatted(stream.group().id(), id, status));
  }

  private void lease(long low, long high, String expiresAt) {
    stream.execute(
        "INSERT INTO {lease} (token, consumer_group_id, low, high, expires_at, session)"
            + " VALUES (gen_random_uuid(), %d, %d, %d, %s, gen_random_uuid())"
                .formatted(stream.group().id(), low, high, expiresAt));
  }

  /** What retention has noted: unread, in flight, dead, first and last id. */
  private List<String> operations() {
    return stream.rows(
        "SELECT detail ->> 'messages', detail ->> 'in_flight', detail ->> 'dead', detail ->> 'first_id', detail ->> 'last_id'"
            + " FROM {operations} WHERE operation = 'retention' ORDER BY id");
  }

  private List<String> partitions() {
    return upkeep().partitions().stream()
        .map(partition -> partition.firstId() + "-" + partition.lastId())
        .toList();
  }

  /** The numbers of the tables that are or were partitions. */
  private List<Long> tables() {
    return stream.longs(
        "SELECT substring(relname FROM '[0-9]+$')::bigint FROM pg_class WHERE relkind = 'r' AND relnamespace = '{schema}'::regnamespace"
            + " AND relname ~ '^message_log_"
            + stream.info().id()
            + "_[0-9]+$' ORDER BY 1");
  }
}
