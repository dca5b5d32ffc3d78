package io.sqlstreams.internal.outcome;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.internal.document.MessageOptions;
import org.jspecify.annotations.Nullable;

/** A group's settings as they were last read, and what they mean for a message. Thread-safe. */
public final class Policies {
  private record Settings(GroupConfig group, Policy policy) {}

  private volatile Settings settings;

  public Policies(GroupConfig group) {
    this.settings = settings(group);
  }

  /** From now on these settings hold; attempts that run keep theirs. */
  public void set(GroupConfig group) {
    settings = settings(group);
  }

  /** The group's settings. */
  public GroupConfig group() {
    return settings.group();
  }

  /** Whether messages wait for others of their key, if they don't ask for another way. */
  public boolean keepsOrder() {
    Concurrency override = group().concurrencyOverride();
    return (override == null ? group().concurrency() : override) != Concurrency.PARALLEL;
  }

  /** What holds for a message without wishes. */
  public Policy ofGroup() {
    return settings.policy();
  }

  /**
   * What holds for a message with these wishes. What can't be read asks for nothing: producers
   * check it, so it was written by hand.
   *
   * @param options as the log keeps them; null for none
   */
  public Policy of(@Nullable String options) {
    Settings current = settings;
    if (options == null) {
      return current.policy();
    }
    try {
      return Policy.of(current.group(), MessageOptions.read(options));
    } catch (RuntimeException e) {
      return current.policy();
    }
  }

  private static Settings settings(GroupConfig group) {
    return new Settings(group, Policy.of(group, MessageOptions.NONE));
  }
}
