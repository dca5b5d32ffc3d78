package io.sqlstreams;

import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.client.Client;
import javax.sql.DataSource;

/** Settings of a client. Not thread-safe; the client that it builds is. */
public final class SqlStreamsBuilder {
  private final DataSource dataSource;
  private String schema = SqlStreams.DEFAULT_SCHEMA;
  private boolean allowDestroy;

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
   * Builds the client. No I/O.
   *
   * @throws InvalidInputException when the schema's name breaks its rule
   */
  public SqlStreams build() {
    return Client.create(dataSource, schema, allowDestroy);
  }
}
