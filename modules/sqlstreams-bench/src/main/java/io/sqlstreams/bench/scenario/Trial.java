package io.sqlstreams.bench.scenario;

import io.sqlstreams.bench.BenchException;
import java.sql.SQLException;

/** One round of a scenario. */
public interface Trial extends AutoCloseable {
  /** Does the work that is measured. */
  Work run() throws Exception;

  /**
   * Compares what came of it with what was asked.
   *
   * @throws BenchException when the two differ
   */
  void verify() throws Exception;

  /** Drops the tables. */
  @Override
  void close() throws SQLException;
}
