package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Consumption;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.lab.Await;
import io.sqlstreams.lab.Consumer;
import io.sqlstreams.lab.Relay;
import io.sqlstreams.lab.TestPool;
import io.sqlstreams.lab.TestStream;
import io.sqlstreams.test.SqlStreamsTest;
import io.sqlstreams.test.TestDatabase;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A handler's time is over, and the request to cancel its statement is slow: it stops nobody
 * else's.
 */
@SqlStreamsTest
class LateCancelIT {
  TestDatabase database;
  TestStream stream;
  Relay relay;
  HikariDataSource pool;
  SqlStreams client;
  final CountDownLatch gate = new CountDownLatch(1);

  @BeforeEach
  void register() throws Exception {
    stream =
        TestStream.register(
            database,
            StreamConfig.defaults(),
            TransactionalIT.QUICK_RETRY
                .withTimeout(Duration.ofMillis(1_500))
                .withRetry(RetryPolicy.defaults().withMaxRetries(0)));
    relay = new Relay(database.jdbcUrl());
    relay.holdCancels(gate);
    pool = TestPool.of(relay.dataSource(), 3);
    client = SqlStreams.builder(pool).schema(database.schema()).build();
  }

  @AfterEach
  void close() {
    gate.countDown();
    client.close();
    pool.close();
    relay.close();
  }

  /**
   * Steps: message 1 hears the interrupt and returns; message 2 is at a statement; the request
   * arrives.
   */
  @Test
  void itDoesNotHitTheNextMessageOfTheTransaction() {
    List<Long> ids = stream.produce(2);
    CountDownLatch second = new CountDownLatch(1);
    try (Consumption running =
        consume(
            (message, connection) -> {
              if (message.id() == ids.get(0)) {
                beInterrupted();
                openSoonAfter(second);
              } else {
                second.countDown();
                sleep(connection);
              }
              return Outcome.done();
            })) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().timedOut()).isEqualTo(1);
      assertThat(running.counters().done()).isEqualTo(2);
    }
    assertThat(stream.rows("SELECT message_id, last_error FROM {queue}")).isEmpty();
  }

  /**
   * Steps: the message is done; the request is still under way; the connection would go to its next
   * user.
   */
  @Test
  void itDoesNotHitTheNextUserOfTheConnection() {
    stream.produce(1);
    AtomicBoolean early = new AtomicBoolean();
    CountDownLatch givenBack = new CountDownLatch(1);
    try (SqlStreams watched =
            SqlStreams.builder(
                    watched(
                        () -> {
                          early.compareAndSet(false, relay.cancels() == 1 && gate.getCount() > 0);
                          givenBack.countDown();
                        }))
                .schema(database.schema())
                .build();
        Consumption running =
            watched.stream(stream.name())
                .group("g")
                .consumeTransactional(
                    (message, connection) -> {
                      beInterrupted();
                      openSoonAfter(givenBack);
                      return Outcome.done();
                    },
                    Consumer.QUICK.withHandlers(1))) {
      stream.awaitSettled();
      running.stop();
      assertThat(running.counters().timedOut()).isEqualTo(1);
    }
    assertThat(early).as("somebody else could be hit").isFalse();
  }

  /** Tells when a handler's connection is closed. */
  private DataSource watched(Runnable closed) {
    DataSource source = relay.dataSource();
    return proxy(
        DataSource.class,
        (method, arguments) -> {
          Object result = call(source, method, arguments);
          if (!(result instanceof Connection connection)
              || !Thread.currentThread().getName().contains("-handler-")) {
            return result;
          }
          return proxy(
              Connection.class,
              (inner, innerArguments) -> {
                if (inner.getName().equals("close")) {
                  closed.run();
                }
                return call(connection, inner, innerArguments);
              });
        });
  }

  @FunctionalInterface
  private interface Behaviour {
    Object of(Method method, Object[] arguments) throws Throwable;
  }

  private static <T> T proxy(Class<T> type, Behaviour behaviour) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> behaviour.of(method, arguments)));
  }

  private static Object call(Object target, Method method, Object[] arguments) throws Throwable {
    try {
      return method.invoke(target, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  private Consumption consume(
      io.sqlstreams.TransactionalHandler<io.sqlstreams.codec.RawPayload> handler) {
    return client.stream(stream.name())
        .group("g")
        .consumeTransactional(handler, Consumer.QUICK.withHandlers(1));
  }

  private void beInterrupted() {
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      Await.until("the request is under way", () -> relay.cancels() == 1);
    }
  }

  /** Lets the request go once this is so, or after a while: it may never be so before that. */
  private void openSoonAfter(CountDownLatch moment) {
    Thread opener =
        new Thread(
            () -> {
              try {
                moment.await(2, TimeUnit.SECONDS);
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
              gate.countDown();
            });
    opener.setDaemon(true);
    opener.start();
  }

  private static void sleep(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("SELECT pg_sleep(1)");
    }
  }
}
