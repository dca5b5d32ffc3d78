package io.sqlstreams;

import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.client.Client;
import javax.sql.DataSource;

/** Settings of a client. Not thread-safe; the client that it builds is. */
public final class SqlStreamsBuilder {
  private final DataSource dataSource;
  private String schema = SqlStreams.DEFAULT_SCHEMA;
  private boolean allowDestroy;
  private boolean upkeep = true;

  SqlStreamsBuilder(DataSource dataSource) {
    this.dataSource = dataSource;
  }

  /**
   * The schema of the installation. Defaults to {@value SqlStreams#DEFAULT_SCHEMA}.
   *
   * @param schema a lower-case letter or underscore, then up to 39 lower-case letters, digits or
   *     underscores
   */
  public SqlStreamsBuilder schema(String schema) {
    this.schema = schema;
    return this;
  }

  /** Whether the client may destroy systems, streams and groups. Defaults to false. */
  public SqlStreamsBuilder allowDestroy(boolean allowDestroy) {
    this.allowDestroy = allowDestroy;
    return this;
  }

  /**
   * Whether the client does its part of the installation's background work while it consumes; see
   * {@link Manager}. Turn it off where that is left to other processes, for instance because the
   * role of this one may not change tables. Defaults to true.
   */
  public SqlStreamsBuilder upkeep(boolean upkeep) {
    this.upkeep = upkeep;
    return this;
  }

  /**
   * Builds the client. No I/O.
   *
   * @throws InvalidInputException when the schema's name breaks its rule
   */
  public SqlStreams build() {
    return Client.create(dataSource, schema, allowDestroy, upkeep);
  }
}
