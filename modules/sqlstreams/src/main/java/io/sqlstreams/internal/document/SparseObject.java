package io.sqlstreams.internal.document;

import java.time.Duration;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

/** A JSON object that is given only what differs from a default. */
final class SparseObject {
  private static final JsonMapper MAPPER = JsonMapper.shared();

  private final ObjectNode node = MAPPER.createObjectNode();

  static JsonNode parse(String json) {
    return MAPPER.readTree(json);
  }

  SparseObject put(String name, int value, int defaultValue) {
    if (value != defaultValue) {
      node.put(name, value);
    }
    return this;
  }

  SparseObject put(String name, long value) {
    node.put(name, value);
    return this;
  }

  SparseObject put(String name, boolean value) {
    node.put(name, value);
    return this;
  }

  SparseObject put(String name, double value, double defaultValue) {
    if (value != defaultValue) {
      node.put(name, value);
    }
    return this;
  }

  SparseObject put(String name, String value, String defaultValue) {
    return value.equals(defaultValue) ? this : put(name, value);
  }

  SparseObject put(String name, String value) {
    node.put(name, value);
    return this;
  }

  SparseObject put(String name, Duration value, Duration defaultValue) {
    return value.equals(defaultValue) ? this : put(name, value);
  }

  SparseObject put(String name, Duration value) {
    node.put(name, value.toNanos());
    return this;
  }

  /** Adds it even when it is empty. */
  SparseObject put(String name, SparseObject object) {
    node.set(name, object.node);
    return this;
  }

  String json() {
    return MAPPER.writeValueAsString(node);
  }

  static Duration duration(JsonNode object, String name, Duration defaultValue) {
    return Duration.ofNanos(object.path(name).asLong(defaultValue.toNanos()));
  }
}
