package io.sqlstreams.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** One pulse for all sessions of a process. */
@SqlStreamsTest
class HeartbeatIT {
  TestDatabase database;

  /**
   * Steps: a process holds something of one stream, and of four others; the others' leases are
   * locked, as by a rewind that takes its time; the one's lease is looked at.
   */
  @Test
  void streamsWhoseLeasesAreLockedDoNotHoldUpTheRenewalOfOthers() throws Exception {
    TestStream free = TestStream.register(database);
    List<TestStream> locked = new ArrayList<>();
    CountDownLatch goOn = new CountDownLatch(1);
    List<Consumer> consumers = new ArrayList<>();
    try (SqlStreams client = TestStream.client(database);
        Connection locker = free.unpooled();
        Statement statement = locker.createStatement()) {
      locker.setAutoCommit(false);
      for (int i = 0; i < 4; i++) {
        locked.add(TestStream.register(database));
      }
      List<TestStream> all = new ArrayList<>(locked);
      all.add(free);
      for (TestStream stream : all) {
        stream.produce(1);
        consumers.add(
            Consumer.start(
                client,
                stream,
                message -> {
                  goOn.await();
                  return Outcome.done();
                }));
      }
      consumers.forEach(consumer -> consumer.awaitReceived(1));
      for (TestStream stream : locked) {
        statement.execute(stream.sql("LOCK TABLE {lease} IN SHARE ROW EXCLUSIVE MODE"));
      }
      AtomicBoolean ranOut = new AtomicBoolean();
      long before = free.number("SELECT extract(epoch FROM clock_timestamp())::BIGINT");
      Await.until(
          "three leases long",
          () -> {
            ranOut.compareAndSet(
                false,
                free.number("SELECT count(*) FROM {lease} WHERE expires_at < clock_timestamp()")
                    > 0);
            return free.number("SELECT extract(epoch FROM clock_timestamp())::BIGINT") - before > 8;
          });
      locker.rollback();
      goOn.countDown();
      assertThat(ranOut).as("its lease ran out").isFalse();
    } finally {
      goOn.countDown();
      consumers.forEach(Consumer::close);
    }
  }
}
