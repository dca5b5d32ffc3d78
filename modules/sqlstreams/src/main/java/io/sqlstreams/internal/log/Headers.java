package io.sqlstreams.internal.log;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/** Headers as the JSON object of texts that the log stores. */
final class Headers {
  private static final JsonMapper MAPPER = new JsonMapper();
  private static final TypeReference<LinkedHashMap<String, String>> TEXTS =
      new TypeReference<>() {};

  private Headers() {}

  /** The headers of this object. Unmodifiable. */
  static Map<String, String> parse(String json) {
    return Collections.unmodifiableMap(MAPPER.readValue(json, TEXTS));
  }
}
