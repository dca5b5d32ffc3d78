package io.sqlstreams.internal.client;

import io.sqlstreams.config.Notifications;
import io.sqlstreams.internal.sql.Database;
import io.sqlstreams.internal.sql.Scope;
import io.sqlstreams.internal.wake.Announcements;
import io.sqlstreams.internal.wake.DirectListening;
import io.sqlstreams.internal.wake.Listener;
import io.sqlstreams.internal.wake.Notifier;
import io.sqlstreams.internal.wake.Wakeups;
import io.sqlstreams.internal.wake.Watcher;
import org.jspecify.annotations.Nullable;

/** How news reaches the consumers of this client, and of others. Thread-safe. */
public final class Waking {
  private final Wakeups wakeups = new Wakeups();
  private final Notifications notifications;
  private final Watcher watcher;
  private final Listener listener;
  private final Notifier notifier;
  private final @Nullable DirectListening direct;

  /** As the settings want it. */
  static Waking of(Database database, Scope system, ClientSettings settings) {
    return new Waking(
        database,
        settings.listenOn() == null ? null : new Database(settings.listenOn(), settings.schema()),
        system,
        settings.notifications());
  }

  /**
   * @param direct of the data source to listen on; null: on the connection of the heartbeats
   */
  Waking(Database database, @Nullable Database direct, Scope system, Notifications notifications) {
    this.notifications = notifications;
    this.watcher = new Watcher(database, system, this::isListening);
    this.listener = new Listener(system, wakeups, watcher::hurry);
    this.notifier = new Notifier(database, system);
    this.direct =
        direct == null || notifications == Notifications.NONE
            ? null
            : new DirectListening(direct, listener);
  }

  private boolean isListening() {
    return listener.isLive();
  }

  Wakeups wakeups() {
    return wakeups;
  }

  Watcher watcher() {
    return watcher;
  }

  /** Who listens on the heartbeats' connection; null for nobody. */
  @Nullable Listener listenerBetweenBeats() {
    return direct == null && notifications != Notifications.NONE ? listener : null;
  }

  /** There is news of this stream, which is committed. Returns at once. */
  void tell(long stream) {
    wakeups.wake(stream);
    if (notifications != Notifications.NONE) {
      notifier.mark(stream);
    }
  }

  /** The command by which a transaction of the caller's tells of news of this stream. */
  String announcement(Scope stream) {
    return notifications == Notifications.ALL ? Announcements.command(stream) : "";
  }

  /** A consumption is about to begin. */
  void begin() {
    if (direct != null) {
      direct.start();
    }
  }

  /** No consumption is left. */
  void stopConsuming() {
    watcher.stop();
    if (direct != null) {
      direct.stop();
    }
  }

  /** Nothing is produced any more. */
  void stop() {
    notifier.stop();
  }
}
