package io.sqlstreams.internal.document;

import io.sqlstreams.config.Binding;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Bindings as JSON: an array with a text for each pattern and an object for each header binding.
 */
public final class BindingDocument {
  private BindingDocument() {}

  /** The array of these bindings. */
  public static String write(Collection<Binding> bindings) {
    ArrayNode array = JsonMapper.shared().createArrayNode();
    for (Binding binding : bindings) {
      if (binding instanceof Binding.Headers headers) {
        array.add(object(headers));
      } else if (binding instanceof Binding.RoutingKey routingKey) {
        array.add(routingKey.pattern());
      }
    }
    return JsonMapper.shared().writeValueAsString(array);
  }

  /** The object of this header binding. */
  public static String write(Binding.Headers binding) {
    return JsonMapper.shared().writeValueAsString(object(binding));
  }

  /** The bindings of this array; none for null. */
  public static Set<Binding> read(@Nullable String json) {
    if (json == null) {
      return Set.of();
    }
    Set<Binding> bindings = new LinkedHashSet<>();
    for (JsonNode each : JsonMapper.shared().readTree(json)) {
      bindings.add(each.isString() ? Binding.routingKey(each.asString()) : headers(each));
    }
    return Collections.unmodifiableSet(bindings);
  }

  private static ObjectNode object(Binding.Headers binding) {
    ObjectNode object = JsonMapper.shared().createObjectNode();
    binding.headers().forEach(object::put);
    return object;
  }

  private static Binding.Headers headers(JsonNode object) {
    Map<String, String> headers = new LinkedHashMap<>();
    object
        .properties()
        .forEach(header -> headers.put(header.getKey(), header.getValue().asString()));
    return new Binding.Headers(headers);
  }
}
