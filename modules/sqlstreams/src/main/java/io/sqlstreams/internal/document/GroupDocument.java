package io.sqlstreams.internal.document;

import io.sqlstreams.config.Binding;
import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLimits;
import io.sqlstreams.config.DeliveryLogMode;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.Start;
import java.util.Locale;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/** A group's settings as {@code worker_config.metadata} keeps them. */
public final class GroupDocument {
  private static final GroupConfig DEFAULTS = GroupConfig.defaults();
  private static final DeliveryLimits NO_LIMITS = DeliveryLimits.defaults();

  private GroupDocument() {}

  /** The document of these settings; start and bindings aren't part of it. */
  public static String write(GroupConfig config) {
    SparseObject document = new SparseObject();
    document.put("timeout_ns", config.timeout(), DEFAULTS.timeout());
    RetryDocument.write(config.retry(), document);
    Concurrency override = config.concurrencyOverride();
    if (override != null) {
      document.put("concurrency_override", override.sqlName());
    }
    DeliveryLimits limits = config.limits();
    return document
        .put("min_timeout_ns", limits.minTimeout(), NO_LIMITS.minTimeout())
        .put("max_timeout_ns", limits.maxTimeout(), NO_LIMITS.maxTimeout())
        .put("least_retries", limits.minRetries(), NO_LIMITS.minRetries())
        .put("most_retries", limits.maxRetries(), NO_LIMITS.maxRetries())
        .put("min_backoff_ns", limits.minBackoff(), NO_LIMITS.minBackoff())
        .put("max_backoff_ns", limits.maxBackoff(), NO_LIMITS.maxBackoff())
        .put("most_delays", limits.maxDelays(), NO_LIMITS.maxDelays())
        .put("max_range_reclaims", config.maxRangeReclaims(), DEFAULTS.maxRangeReclaims())
        .put("delivery_log_mode", config.deliveryLog().sqlName(), DEFAULTS.deliveryLog().sqlName())
        .put("concurrency", config.concurrency().sqlName(), DEFAULTS.concurrency().sqlName())
        .json();
  }

  /** The settings of this document, with this start and these bindings. */
  public static GroupConfig read(Start start, Set<Binding> bindings, String json) {
    JsonNode document = SparseObject.parse(json);
    return new GroupConfig(
        start,
        RetryDocument.read(document),
        SparseObject.duration(document, "timeout_ns", DEFAULTS.timeout()),
        limits(document),
        document.path("max_range_reclaims").asInt(DEFAULTS.maxRangeReclaims()),
        DeliveryLogMode.valueOf(
            document
                .path("delivery_log_mode")
                .asString(DEFAULTS.deliveryLog().sqlName())
                .toUpperCase(Locale.ROOT)),
        concurrency(document.path("concurrency").asString(DEFAULTS.concurrency().sqlName())),
        document.has("concurrency_override")
            ? concurrency(document.path("concurrency_override").asString())
            : null,
        bindings);
  }

  private static Concurrency concurrency(String sqlName) {
    return Concurrency.valueOf(sqlName.toUpperCase(Locale.ROOT));
  }

  private static DeliveryLimits limits(JsonNode document) {
    return new DeliveryLimits(
        SparseObject.duration(document, "min_timeout_ns", NO_LIMITS.minTimeout()),
        SparseObject.duration(document, "max_timeout_ns", NO_LIMITS.maxTimeout()),
        document.path("least_retries").asInt(NO_LIMITS.minRetries()),
        document.path("most_retries").asInt(NO_LIMITS.maxRetries()),
        SparseObject.duration(document, "min_backoff_ns", NO_LIMITS.minBackoff()),
        SparseObject.duration(document, "max_backoff_ns", NO_LIMITS.maxBackoff()),
        document.path("most_delays").asInt(NO_LIMITS.maxDelays()));
  }
}
