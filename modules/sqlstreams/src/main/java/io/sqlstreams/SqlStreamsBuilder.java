package io.sqlstreams;

import io.sqlstreams.config.ConsumeOptions;
import io.sqlstreams.config.Notifications;
import io.sqlstreams.error.InvalidInputException;
import io.sqlstreams.internal.client.Client;
import io.sqlstreams.internal.client.ClientSettings;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Settings of a client. Not thread-safe; the client that it builds is. */
public final class SqlStreamsBuilder {
  private final DataSource dataSource;
  private String schema = SqlStreams.DEFAULT_SCHEMA;
  private boolean allowDestroy;
  private boolean upkeep = true;
  private @Nullable DataSource listenOn;
  private Notifications notifications = Notifications.ALL;

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
   * The data source on which the client listens for notifications of other processes. It keeps one
   * connection of it while it consumes. Needed where {@code dataSource} leads through a pooler that
   * gives a session to somebody else after each transaction, such as PgBouncer in transaction mode:
   * this one must lead to the server itself, and to the same database. Defaults to none: then it
   * listens on the connection of its heartbeats.
   *
   * @param direct a data source without such a pooler; it stays the caller's
   * @throws InvalidInputException when it is null
   */
  public SqlStreamsBuilder listenOn(DataSource direct) {
    if (direct == null) {
      throw new InvalidInputException(
          "listenOn", "it is null: leave it out, or give a data source");
    }
    this.listenOn = direct;
    return this;
  }

  /**
   * Which notifications the client uses. Without them consumers look for messages every {@link
   * ConsumeOptions#pollInterval}, with them they hear of most at once. Defaults to {@link
   * Notifications#ALL}.
   *
   * @throws InvalidInputException when it is null
   */
  public SqlStreamsBuilder notifications(Notifications notifications) {
    if (notifications == null) {
      throw new InvalidInputException("notifications", "it is null: ALL is the default");
    }
    this.notifications = notifications;
    return this;
  }

  /**
   * Builds the client. No I/O.
   *
   * @throws InvalidInputException when the schema's name breaks its rule
   */
  public SqlStreams build() {
    return Client.create(
        dataSource, new ClientSettings(schema, allowDestroy, upkeep, listenOn, notifications));
  }
}
