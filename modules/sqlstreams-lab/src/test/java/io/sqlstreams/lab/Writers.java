package io.sqlstreams.lab;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

/**
 * Writers that make the order of ids differ from the order of commits as much as they can: random
 * pauses between drawing an id and committing, and roll-backs.
 */
public final class Writers {
  private final TestStream stream;
  private final int writers;
  private final int messages;
  private final double rollbacks;

  /**
   * @param messages how many all of them try together
   * @param rollbacks the share that is rolled back
   */
  public Writers(TestStream stream, int writers, int messages, double rollbacks) {
    this.stream = stream;
    this.writers = writers;
    this.messages = messages;
    this.rollbacks = rollbacks;
  }

  /** Runs them all to their end. */
  public void run() throws InterruptedException {
    ConcurrentLinkedQueue<Throwable> failures = new ConcurrentLinkedQueue<>();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < writers; i++) {
      long seed = System.nanoTime() + i;
      Thread thread =
          new Thread(
              () -> {
                try {
                  write(new Random(seed), messages / writers);
                } catch (SQLException e) {
                  failures.add(new IllegalStateException("seed " + seed, e));
                }
              });
      thread.start();
      threads.add(thread);
    }
    for (Thread thread : threads) {
      thread.join();
    }
    if (!failures.isEmpty()) {
      throw new IllegalStateException("a writer failed", failures.peek());
    }
  }

  private void write(Random random, int number) throws SQLException {
    try (Connection connection = stream.unpooled()) {
      connection.setAutoCommit(false);
      String insert = stream.sql("INSERT INTO {log} (schema_version, payload) VALUES (1, '{}')");
      try (PreparedStatement statement = connection.prepareStatement(insert)) {
        for (int left = number; left > 0; ) {
          int batch = Math.min(left, 1 + random.nextInt(3));
          for (int i = 0; i < batch; i++) {
            statement.executeUpdate();
            pause(random);
          }
          if (random.nextDouble() < rollbacks) {
            connection.rollback();
          } else {
            connection.commit();
          }
          left -= batch;
        }
      }
    }
  }

  private static void pause(Random random) {
    if (random.nextInt(4) == 0) {
      LockSupport.parkNanos(random.nextInt(2_000_000));
    }
  }
}
