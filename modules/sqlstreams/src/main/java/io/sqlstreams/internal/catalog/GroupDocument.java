package io.sqlstreams.internal.catalog;

import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.RetryPolicy;
import io.sqlstreams.config.Start;
import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/**
 * A group's settings as they are stored: only those that differ from the library's defaults,
 * durations as nanoseconds. What isn't there gets the default when it is read, so a better default
 * of a later release reaches it.
 */
final class GroupDocument {
  private static final JsonMapper MAPPER = JsonMapper.shared();
  private static final GroupConfig DEFAULTS = GroupConfig.defaults();
  private static final RetryPolicy DEFAULT_RETRY = DEFAULTS.retry();

  private GroupDocument() {}

  /** The document of these settings; the start isn't part of it. */
  static String write(GroupConfig config) {
    RetryPolicy retry = config.retry();
    ObjectNode document = MAPPER.createObjectNode();
    put(document, "timeout_ns", config.timeout(), DEFAULTS.timeout());
    if (retry.maxRetries() != DEFAULT_RETRY.maxRetries()) {
      document.put("max_retries", retry.maxRetries());
    }
    put(document, "initial_backoff_ns", retry.initialBackoff(), DEFAULT_RETRY.initialBackoff());
    put(document, "base_ns", retry.base(), DEFAULT_RETRY.base());
    if (retry.exponent() != DEFAULT_RETRY.exponent()) {
      document.put("exponent", retry.exponent());
    }
    put(document, "cap_ns", retry.cap(), DEFAULT_RETRY.cap());
    if (config.maxRangeReclaims() != DEFAULTS.maxRangeReclaims()) {
      document.put("max_range_reclaims", config.maxRangeReclaims());
    }
    return MAPPER.writeValueAsString(document);
  }

  /** The settings of this document, with this start. */
  static GroupConfig read(Start start, String json) {
    JsonNode document = MAPPER.readTree(json);
    RetryPolicy retry =
        new RetryPolicy(
            document.path("max_retries").asInt(DEFAULT_RETRY.maxRetries()),
            duration(document, "initial_backoff_ns", DEFAULT_RETRY.initialBackoff()),
            duration(document, "base_ns", DEFAULT_RETRY.base()),
            document.path("exponent").asDouble(DEFAULT_RETRY.exponent()),
            duration(document, "cap_ns", DEFAULT_RETRY.cap()));
    return new GroupConfig(
        start,
        retry,
        duration(document, "timeout_ns", DEFAULTS.timeout()),
        document.path("max_range_reclaims").asInt(DEFAULTS.maxRangeReclaims()));
  }

  private static void put(ObjectNode document, String name, Duration value, Duration defaultValue) {
    if (!value.equals(defaultValue)) {
      document.put(name, value.toNanos());
    }
  }

  private static Duration duration(JsonNode document, String name, Duration defaultValue) {
    return Duration.ofNanos(document.path(name).asLong(defaultValue.toNanos()));
  }
}
