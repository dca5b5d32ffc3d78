package io.sqlstreams.cli.demo;

import io.sqlstreams.Outgoing;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.ProduceOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * A real GitHub webhook delivery.
 *
 * @param routingKey {@code event.action}, or {@code event} where there is no action
 * @param key the repository; null where the delivery isn't about one
 * @param payload the payload's JSON text, character for character
 */
record Delivery(String routingKey, @Nullable String key, String payload) {
  private static final String FILE = "github-webhooks.ndjson";
  private static final String PAYLOAD = "\"payload\":";
  private static final JsonMapper JSON = JsonMapper.shared();

  /** Every delivery that comes with the demo. */
  static List<Delivery> all() {
    try (InputStream in = Delivery.class.getResourceAsStream(FILE)) {
      if (in == null) {
        throw new IllegalStateException(FILE + " is not in the jar");
      }
      return new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))
          .lines()
          .map(Delivery::of)
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * A line of the file: {@code event}, {@code action}, {@code repository}, and {@code payload}
   * last.
   */
  static Delivery of(String line) {
    JsonNode delivery = JSON.readTree(line);
    String event = delivery.path("event").stringValue();
    @Nullable String action = delivery.path("action").stringValue(null);
    // cut out, not written anew: numbers keep every digit
    String payload = line.substring(line.indexOf(PAYLOAD) + PAYLOAD.length(), line.length() - 1);
    return new Delivery(
        action == null ? event : event + "." + action,
        delivery.path("repository").stringValue(null),
        payload);
  }

  Outgoing<RawPayload> message() {
    return Outgoing.of(
        RawPayload.of(payload), ProduceOptions.defaults().withKey(key).withRoutingKey(routingKey));
  }
}
