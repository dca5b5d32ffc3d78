package io.sqlstreams.internal.dispatch;

import io.sqlstreams.Message;
import io.sqlstreams.ScheduledRun;
import io.sqlstreams.internal.document.MessageOptions;
import io.sqlstreams.internal.log.StoredMessage;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A message as the handler sees it. */
record Received<T>(Delivery delivery, StoredMessage stored, T payload, Map<String, String> headers)
    implements Message<T> {
  @Override
  public long id() {
    return stored.id();
  }

  @Override
  public boolean isTombstone() {
    return stored.isTombstone();
  }

  @Override
  public @Nullable String key() {
    return stored.messageKey();
  }

  @Override
  public @Nullable String routingKey() {
    return stored.routingKey();
  }

  @Override
  public Instant createdAt() {
    return stored.createdAt();
  }

  @Override
  public @Nullable ScheduledRun scheduledRun() {
    return MessageOptions.run(stored.optionsJson());
  }

  @Override
  public int attempt() {
    return delivery.tries().attempt();
  }

  @Override
  public int delays() {
    return delivery.tries().delays();
  }

  @Override
  public int schemaVersion() {
    return stored.schemaVersion();
  }

  @Override
  public boolean cancelled() {
    return delivery.cancelled();
  }

  /** The position alone: payloads and keys don't belong in logs. */
  @Override
  public String toString() {
    return "Message[id=" + id() + ", attempt=" + attempt() + "]";
  }
}
