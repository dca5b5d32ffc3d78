package io.sqlstreams.bench.idle;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.sqlstreams.Outcome;
import io.sqlstreams.SqlStreams;
import io.sqlstreams.StreamInfo;
import java.io.IOException;

/**
 * One process of the fleet: consumes every stream for its group. Tells {@value #READY} when all
 * run, {@value #HANDLED} for each message, and ends with its standard input.
 */
public final class IdleProcess {
  static final String READY = "ready";
  static final String HANDLED = "handled";
  static final String GROUP = "g";

  private static final int CONNECTIONS = 10;

  private IdleProcess() {}

  /** Arguments: the database's URL and the schema. */
  public static void main(String[] arguments) throws IOException {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(arguments[0]);
    config.setMaximumPoolSize(CONNECTIONS);
    try (HikariDataSource pool = new HikariDataSource(config);
        SqlStreams client = SqlStreams.builder(pool).schema(arguments[1]).build()) {
      for (StreamInfo stream : client.streams()) {
        client.stream(stream.name())
            .group(GROUP)
            .consume(
                message -> {
                  System.out.println(HANDLED);
                  return Outcome.done();
                });
      }
      System.out.println(READY);
      while (System.in.read() >= 0) {
        // whoever started this closes it
      }
    }
  }
}
