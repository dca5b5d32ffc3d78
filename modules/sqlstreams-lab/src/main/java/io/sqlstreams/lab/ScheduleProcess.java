package io.sqlstreams.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** A process with a {@link ScheduleManager}, until its standard input ends. */
public final class ScheduleProcess {
  private ScheduleProcess() {}

  /** Arguments: the database's JDBC URL, the schema. */
  public static void main(String[] args) throws Exception {
    HikariConfig pool = new HikariConfig();
    pool.setJdbcUrl(args[0]);
    pool.setMaximumPoolSize(3);
    try (HikariDataSource dataSource = new HikariDataSource(pool);
        ScheduleManager manager = ScheduleManager.start(dataSource, args[1])) {
      System.out.println("ready");
      while (System.in.read() >= 0) {
        // until it ends
      }
    }
  }
}
