package io.sqlstreams.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.MessageKey;
import io.sqlstreams.SqlStreams;

/** A process that adds one to the number that a message key holds, again and again. */
public final class CounterProcess {
  private CounterProcess() {}

  /** Arguments: the database's JDBC URL, the schema, the stream, the key, how often. */
  public static void main(String[] args) {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(args[0]);
    pool.setMaximumPoolSize(2);
    try (HikariDataSource dataSource = new HikariDataSource(pool);
        SqlStreams client = SqlStreams.builder(dataSource).schema(args[1]).build()) {
      MessageKey<Integer> counter = client.stream(args[2], Integer.class).key(args[3]);
      for (int i = 0; i < Integer.parseInt(args[4]); i++) {
        counter.update(value -> value == null ? 1 : value + 1);
      }
    }
    System.out.println("done");
  }
}
