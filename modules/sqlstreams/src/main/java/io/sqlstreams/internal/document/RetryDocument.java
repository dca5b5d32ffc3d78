package io.sqlstreams.internal.document;

import io.sqlstreams.config.RetryPolicy;
import tools.jackson.databind.JsonNode;

/** A retry policy, as part of an object. */
final class RetryDocument {
  private static final RetryPolicy DEFAULTS = RetryPolicy.defaults();

  private RetryDocument() {}

  static void write(RetryPolicy retry, SparseObject object) {
    object
        .put("max_retries", retry.maxRetries(), DEFAULTS.maxRetries())
        .put("initial_backoff_ns", retry.initialBackoff(), DEFAULTS.initialBackoff())
        .put("base_ns", retry.base(), DEFAULTS.base())
        .put("exponent", retry.exponent(), DEFAULTS.exponent())
        .put("cap_ns", retry.cap(), DEFAULTS.cap())
        .put("jitter", retry.jitter(), DEFAULTS.jitter())
        .put("max_delays", retry.maxDelays(), DEFAULTS.maxDelays());
  }

  static RetryPolicy read(JsonNode object) {
    return new RetryPolicy(
        object.path("max_retries").asInt(DEFAULTS.maxRetries()),
        SparseObject.duration(object, "initial_backoff_ns", DEFAULTS.initialBackoff()),
        SparseObject.duration(object, "base_ns", DEFAULTS.base()),
        object.path("exponent").asDouble(DEFAULTS.exponent()),
        SparseObject.duration(object, "cap_ns", DEFAULTS.cap()),
        object.path("jitter").asDouble(DEFAULTS.jitter()),
        object.path("max_delays").asInt(DEFAULTS.maxDelays()));
  }
}
