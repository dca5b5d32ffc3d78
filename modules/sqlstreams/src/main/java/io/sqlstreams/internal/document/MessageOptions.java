package io.sqlstreams.internal.document;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.ProduceOptions;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a message asks of the groups, as the log's {@code options} keep it.
 *
 * @param timeout how long a handler may take for it; null to leave it to the group
 * @param retry its policy in place of the group's; null to leave it to the group
 */
public record MessageOptions(@Nullable Duration timeout, @Nullable RetryPolicy retry) {
  /** The wish for the order among the messages of a key, which claims read in the database. */
  public static final String CONCURRENCY = "concurrency";

  /** No wishes. */
  public static final MessageOptions NONE = new MessageOptions(null, null);

  /** The document of these wishes; null when there are none. */
  public static @Nullable String write(ProduceOptions options) {
    Duration timeout = options.timeout();
    RetryPolicy retry = options.retry();
    Concurrency concurrency = options.concurrency();
    if (timeout == null && retry == null && concurrency == null) {
      return null;
    }
    SparseObject document = new SparseObject();
    if (timeout != null) {
      document.put("timeout_ns", timeout);
    }
    if (retry != null) {
      SparseObject policy = new SparseObject();
      RetryDocument.write(retry, policy);
      document.put("retry", policy);
    }
    if (concurrency != null) {
      document.put(CONCURRENCY, concurrency.sqlName());
    }
    return document.json();
  }

  /**
   * The wishes of this document; none for null.
   *
   * @throws RuntimeException when it isn't one that {@link #write} has written
   */
  public static MessageOptions read(@Nullable String json) {
    if (json == null) {
      return NONE;
    }
    JsonNode document = SparseObject.parse(json);
    return new MessageOptions(
        document.has("timeout_ns")
            ? SparseObject.duration(document, "timeout_ns", Duration.ZERO)
            : null,
        document.has("retry") ? RetryDocument.read(document.path("retry")) : null);
  }
}
