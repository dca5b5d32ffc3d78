package io.sqlstreams;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.NamedTransaction;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A stream is destroyed while transactions hold some of its tables and come to want more. Whoever
 * is in the middle of something ends it; the drop waits.
 */
@SqlStreamsTest
class DestroyIT {
  TestDatabase database;
  SqlStreams client;
  TestStream stream;

  @BeforeEach
  void register() {
    client = TestStream.client(database);
    stream = TestStream.register(database);
  }

  @AfterEach
  void close() {
    client.close();
  }

  /**
   * A claim that keeps order locks the leases, then reads the log; a transactional handler that
   * produces holds the log, and its result wants the leases. The drop once held one of them while
   * it waited for the other, and the claim was told of a deadlock.
   */
  @ParameterizedTest
  @CsvSource({"{lease}, {log}", "{log}, {lease}", "{queue}, {cursor}", "{heads}, {log}"})
  void noTransactionInTheMiddleIsCaughtInADeadlock(String held, String wanted) throws Exception {
    try (NamedTransaction transaction = stream.begin("in the middle")) {
      transaction.runs("LOCK TABLE " + held + " IN ROW EXCLUSIVE MODE");
      CompletableFuture<Void> destroyed =
          CompletableFuture.runAsync(() -> client.stream(stream.name()).destroy());
      Await.until(
          "the drop waits for what is held",
          () ->
              stream.number(
                      "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
                          + " AND relation = '"
                          + held
                          + "'::regclass")
                  > 0);
      transaction.runs("LOCK TABLE " + wanted + " IN ROW EXCLUSIVE MODE");
      transaction.commits();
      destroyed.get(1, TimeUnit.MINUTES);
    }
    assertThat(client.stream(stream.name()).get()).isEmpty();
    assertThat(database.deadlocks()).isEmpty();
  }
}
