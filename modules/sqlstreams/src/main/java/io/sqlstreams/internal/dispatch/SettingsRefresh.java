package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.error.DatabaseException;
import io.sqlstreams.internal.document.GroupDocument;
import io.sqlstreams.internal.outcome.Policies;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings new declarations of the group to a session that runs. For one thread. */
final class SettingsRefresh {
  private static final Logger log = LoggerFactory.getLogger(SettingsRefresh.class);

  private final String subject;
  private final Supplier<Optional<GroupConfig>> settings;
  private final Policies policies;
  private final long intervalNanos;
  private long readAt = System.nanoTime();

  /**
   * @param subject the group in words, for messages
   * @param settings reads the group's settings; empty when it is gone
   */
  SettingsRefresh(
      String subject,
      Supplier<Optional<GroupConfig>> settings,
      Policies policies,
      Duration interval) {
    this.subject = subject;
    this.settings = settings;
    this.policies = policies;
    this.intervalNanos = interval.toNanos();
  }

  /** Reads the settings when it is time to. */
  void run() {
    long now = System.nanoTime();
    if (now - readAt >= intervalNanos) {
      readAt = now;
      read();
    }
  }

  private void read() {
    try {
      settings.get().ifPresent(this::accept);
    } catch (DatabaseException e) {
      throw e;
    } catch (RuntimeException e) {
      log.warn(
          "{}: the group's settings can't be read, those from before still hold: {}",
          subject,
          e.toString());
    }
  }

  private void accept(GroupConfig settings) {
    // the claims read the bindings for themselves
    GroupConfig read = settings.withBindings(policies.group().bindings());
    if (!read.equals(policies.group())) {
      log.info(
          "{}: new settings: {} -> {}",
          subject,
          GroupDocument.write(policies.group()),
          GroupDocument.write(read));
      policies.set(read);
    }
  }
}
