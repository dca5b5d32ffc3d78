package io.sqlstreams.internal.wake;

import io.sqlstreams.internal.sql.Scope;

/** What a transaction of somebody else's says at its commit. */
public final class Announcements {
  private Announcements() {}

  /**
   * The command that notifies of news of a stream when its transaction commits; of several in one
   * transaction the server sends one.
   *
   * @param stream the stream's scope
   */
  public static String command(Scope stream) {
    return "SELECT pg_notify('sqlstreams." + stream.schema() + "', '" + stream.streamId() + "')";
  }
}
