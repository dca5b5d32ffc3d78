package io.sqlstreams.internal.dispatch;

import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.internal.document.GroupDocument;
import io.sqlstreams.internal.outcome.Policies;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Brings new declarations of the group to a session that runs. */
final class SettingsRefresh {
  private static final Logger log = LoggerFactory.getLogger(SettingsRefresh.class);

  private final String subject;
  private final Policies policies;

  /**
   * @param subject the group in words, for messages
   */
  SettingsRefresh(String subject, Policies policies) {
    this.subject = subject;
    this.policies = policies;
  }

  /**
   * Puts settings into force.
   *
   * @param document as they are kept; null: the group has none, or is gone
   */
  void accept(@Nullable String document) {
    if (document == null) {
      return;
    }
    GroupConfig before = policies.group();
    GroupConfig read;
    try {
      // the claims read the bindings for themselves
      read = GroupDocument.read(before.start(), before.bindings(), document);
    } catch (RuntimeException e) {
      log.warn(
          "{}: the group's settings can't be read, those from before still hold: {}",
          subject,
          e.toString());
      return;
    }
    if (!read.equals(before)) {
      log.info(
          "{}: new settings: {} -> {}",
          subject,
          GroupDocument.write(before),
          GroupDocument.write(read));
      policies.set(read);
    }
  }
}
