package io.sqlstreams.internal.fence;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.StepReader;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nothing is ever skipped: interleavings of writers, step by step. */
@SqlStreamsTest
class FenceIT {
  TestDatabase database;
  TestStream stream;
  StepReader reader;

  @BeforeEach
  void register() {
    stream = TestStream.register(database);
    reader = new StepReader(stream);
  }

  @Test
  void b01_olderTransactionCommitsTheLargerIdFirst() {
    try (NamedTransaction a = stream.begin("A").takesTransactionId();
        NamedTransaction b = stream.begin("B")) {
      long one = b.inserts();
      long two = a.inserts();
      a.commits();
      assertThat(reader.polls(5)).as("B is open").isEmpty();
      b.commits();
      assertThat(reader.polls(2)).containsExactly(one, two);
      assertThat(reader.polls(2)).isEmpty();
    }
  }

  @Test
  void b01_theHoleOfARolledBackWriterIsPassed() {
    try (NamedTransaction a = stream.begin("A").takesTransactionId();
        NamedTransaction b = stream.begin("B")) {
      b.inserts();
      long two = a.inserts();
      a.commits();
      assertThat(reader.polls(5)).as("B is open").isEmpty();
      b.rollsBack();
      assertThat(reader.polls(2)).containsExactly(two);
    }
  }

  @Test
  void aWriterThatHasDrawnAnIdButHasNoTransactionIdYetIsWaitedFor() {
    // a sequence takes a transaction id for each 32nd value, when it logs; so not for the second
    stream.produce(1);
    reader.polls(1);
    try (NamedTransaction a = stream.begin("A")) {
      a.runs("LOCK TABLE {log} IN ROW EXCLUSIVE MODE");
      long drawn = a.number("SELECT nextval(pg_get_serial_sequence('{log}', 'id'))");
      assertThat(a.number("SELECT coalesce(pg_current_xact_id_if_assigned()::text::bigint, 0)"))
          .as("no transaction id")
          .isZero();
      List<Long> later = stream.produce(3);
      assertThat(reader.polls(5)).isEmpty();
      a.runs("INSERT INTO {log} (id, schema_version, payload) VALUES (" + drawn + ", 1, '{}')");
      a.commits();
      assertThat(reader.polls(2)).containsExactly(drawn, later.get(0), later.get(1), later.get(2));
    }
  }

  @Test
  void aWriterThatDrewAnIdAndEndsWithoutATransactionIdLeavesAHole() {
    try (NamedTransaction a = stream.begin("A")) {
      a.runs("LOCK TABLE {log} IN ROW EXCLUSIVE MODE");
      a.number("SELECT nextval(pg_get_serial_sequence('{log}', 'id'))");
      List<Long> later = stream.produce(1);
      assertThat(reader.polls(5)).isEmpty();
      a.commits();
      assertThat(reader.polls(2)).isEqualTo(later);
    }
  }

  @Test
  void aWriterInASavepointThatIsRolledBackDoesNotHoldUp() {
    try (NamedTransaction a = stream.begin("A")) {
      a.runs("SAVEPOINT s");
      a.inserts();
      a.runs("ROLLBACK TO SAVEPOINT s");
      List<Long> later = stream.produce(2);
      assertThat(reader.polls(2)).as("A let its lock go with the savepoint").isEqualTo(later);
      long after = a.inserts();
      a.commits();
      assertThat(reader.polls(2)).containsExactly(after);
    }
  }

  @Test
  void aPreparedTransactionIsWaitedForWhetherItIsPreparedBeforeOrAfterTheLook() {
    for (boolean lookFirst : new boolean[] {true, false}) {
      long prepared;
      List<Long> later;
      String name = "fence-" + stream.name() + lookFirst;
      try (NamedTransaction a = stream.begin("A")) {
        prepared = a.inserts();
        later = stream.produce(1);
        if (lookFirst) {
          assertThat(reader.polls(2)).isEmpty();
        }
        a.runs("PREPARE TRANSACTION '" + name + "'");
      }
      assertThat(reader.polls(5)).as("prepared, looked first: " + lookFirst).isEmpty();
      stream.execute("COMMIT PREPARED '" + name + "'");
      assertThat(reader.polls(2)).containsExactly(prepared, later.get(0));
    }
  }

  @Test
  void b03_timeAloneNeverLetsAReaderPassAnOpenTransaction() {
    List<Long> expected = new ArrayList<>();
    try (NamedTransaction slow = stream.begin("slow")) {
      expected.add(slow.inserts());
      for (int i = 0; i < 100; i++) {
        expected.addAll(stream.produce(1));
        assertThat(reader.polls(3)).isEmpty();
      }
      slow.commits();
    }
    assertThat(reader.polls(5)).isEqualTo(expected);
  }

  @Test
  void b04_holesDoNotHoldUpWhateverUnrelatedSessionsDo() {
    stream.execute("CREATE TABLE IF NOT EXISTS " + database.schema() + ".elsewhere (n INT)");
    try (NamedTransaction read = stream.begin("only read");
        NamedTransaction locked = stream.begin("holds an advisory lock");
        NamedTransaction wrote = stream.begin("wrote elsewhere")) {
      read.number("SELECT count(*) FROM {log}");
      locked.runs("SELECT pg_advisory_xact_lock(42)");
      wrote.runs("INSERT INTO " + database.schema() + ".elsewhere VALUES (1)");
      for (int i = 0; i < 50; i++) {
        try (NamedTransaction failed = stream.begin("failed")) {
          failed.inserts();
          failed.rollsBack();
        }
      }
      List<Long> good = stream.produce(10);
      assertThat(reader.polls(2)).isEqualTo(good);
      // the same for a session that starts anew
      try (NamedTransaction failed = stream.begin("failed")) {
        failed.inserts();
        failed.rollsBack();
      }
      List<Long> more = stream.produce(10);
      assertThat(new StepReader(stream).polls(2)).isEqualTo(more);
    }
  }

  @Test
  void aWriterOfAnotherStreamIsNotWaitedFor() {
    TestStream other = TestStream.register(database);
    try (NamedTransaction elsewhere = other.begin("elsewhere");
        NamedTransaction failed = stream.begin("failed")) {
      elsewhere.inserts();
      failed.inserts();
      failed.rollsBack();
      List<Long> good = stream.produce(1);
      assertThat(reader.polls(2)).isEqualTo(good);
    }
  }

  @Test
  void b06_manyRolledBackMessagesCostNothingAfterwards() {
    stream.produce(1);
    reader.polls(2);
    long before = stream.number("SELECT pg_column_size(c.*) FROM {cursor} AS c");
    for (int i = 0; i < 20; i++) {
      try (NamedTransaction failed = stream.begin("failed")) {
        failed.runs(
            "INSERT INTO {log} (schema_version, payload) SELECT 1, '{}' FROM generate_series(1, 1000)");
        failed.rollsBack();
      }
    }
    List<Long> good = stream.produce(100);
    long looks = reader.looks();
    assertThat(reader.polls(2)).isEqualTo(good);
    assertThat(reader.looks() - looks).as("one look for 20,000 holes").isEqualTo(1);
    assertThat(stream.number("SELECT pg_column_size(c.*) FROM {cursor} AS c")).isEqualTo(before);
  }

  @Test
  void aClaimThatWaitedWhileAnotherMovedTheCursorSkipsNothing() throws Exception {
    List<Long> first = stream.produce(3);
    List<Long> taken = new ArrayList<>();
    try (NamedTransaction other = stream.begin("other")) {
      other.runs("SELECT claimed FROM {cursor} FOR UPDATE");
      // its snapshot shows the first three
      CompletableFuture<List<Long>> waiting =
          CompletableFuture.supplyAsync(
              () -> {
                List<Long> ids = new ArrayList<>();
                new StepReader(stream).claim(ids);
                return ids;
              });
      stream.awaitClaimThatWaits();
      // the other one's snapshot is newer: it takes these too, and stops in front of a writer that
      // is still open
      List<Long> second = stream.produce(2);
      try (NamedTransaction open = stream.begin("open")) {
        long gap = open.inserts();
        List<Long> third = stream.produce(2);
        other.runs("UPDATE {cursor} SET claimed = " + second.get(1));
        other.commits();
        assertThat(waiting.get()).as("everything that it saw was taken").isEmpty();
        taken.addAll(reader.polls(3));
        assertThat(taken).isEmpty();
        open.commits();
        taken.addAll(reader.polls(3));
        assertThat(taken).containsExactly(gap, third.get(0), third.get(1));
      }
      assertThat(first).isNotEmpty();
    }
  }

  /**
   * The head that one session has proven may be newer than the snapshot of another's claim that is
   * under way.
   */
  @Test
  void aProofByAnotherSessionDuringTheWaitIsNotUsedByAnOlderSnapshot() throws Exception {
    stream.produce(1);
    try (NamedTransaction other = stream.begin("other")) {
      other.runs("SELECT claimed FROM {cursor} FOR UPDATE");
      CompletableFuture<List<Long>> waiting =
          CompletableFuture.supplyAsync(
              () -> {
                List<Long> ids = new ArrayList<>();
                new StepReader(stream).claim(ids);
                return ids;
              });
      stream.awaitClaimThatWaits();
      List<Long> later = stream.produce(5);
      other.runs("UPDATE {cursor} SET claimed = 1, settled_head = " + later.get(4));
      other.commits();
      assertThat(waiting.get()).isEmpty();
      assertThat(stream.number("SELECT claimed FROM {cursor}")).isEqualTo(1);
      assertThat(new StepReader(stream).polls(1)).isEqualTo(later);
    }
  }

  /** A failover to an asynchronous standby takes the end of the log back, and the proof with it. */
  @Test
  void aProofThatTheServerHasLostIsNotRemembered() {
    long one = stream.produce(1).get(0);
    try (NamedTransaction failed = stream.begin("failed")) {
      failed.inserts();
      failed.rollsBack();
    }
    long three = stream.produce(1).get(0);
    List<Long> taken = new ArrayList<>();
    assertThat(reader.claim(taken).moved()).isTrue();
    assertThat(reader.fence().prove(one)).as("two never comes").isTrue();
    stream.execute("UPDATE {cursor} SET settled_head = 0");
    stream.execute("DELETE FROM {log} WHERE id = " + three);
    stream.execute("SELECT setval(pg_get_serial_sequence('{log}', 'id'), " + one + ")");
    try (NamedTransaction a = stream.begin("A")) {
      long two = a.inserts();
      assertThat(stream.produce(1)).containsExactly(three);
      assertThat(reader.polls(5)).as("two is drawn anew, and open").isEmpty();
      a.commits();
      assertThat(reader.polls(2)).containsExactly(two, three);
    }
  }

  @Test
  void anUnprovenLookIsKeptForOtherSessionsAndNamesTheWriter() {
    try (NamedTransaction a = stream.begin("A")) {
      a.inserts();
      List<Long> later = stream.produce(1);
      assertThat(reader.polls(3)).isEmpty();
      assertThat(
              stream.rows(
                  "SELECT pending_head = "
                      + later.get(0)
                      + ", cardinality(pending_writers), pending_xid = "
                      + a.number("SELECT pg_current_xact_id()::xid")
                      + "::text::xid FROM {cursor}"))
          .containsExactly("t|1|t");
      StepReader second = new StepReader(stream);
      a.rollsBack();
      assertThat(second.poll()).as("finished by a session that never looked").isEqualTo(later);
      assertThat(stream.rows("SELECT pending_head, pending_writers, pending_xid FROM {cursor}"))
          .containsExactly("null|null|null");
    }
  }

  @Test
  void caughtUpAndHeldUpPollsWriteNothing() {
    stream.produce(2);
    reader.polls(2);
    String version = "SELECT xmin::text || ctid::text || xmax::text FROM {cursor}";
    List<String> before = stream.rows(version);
    reader.polls(20);
    assertThat(stream.rows(version)).isEqualTo(before);
    try (NamedTransaction open = stream.begin("open")) {
      open.inserts();
      stream.produce(1);
      reader.polls(3);
      List<String> heldUp = stream.rows(version);
      reader.polls(20);
      assertThat(stream.rows(version)).isEqualTo(heldUp);
    }
  }
}
