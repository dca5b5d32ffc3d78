package io.sqlstreams.cli;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.LeaseInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.StreamUpkeep;
import io.sqlstreams.SystemInfo;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** What is shown of a noun, in order; the names are those of the API. */
final class Fields {
  private Fields() {}

  static Map<String, Object> ofSystem(SystemInfo system) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("schema", system.schema());
    fields.put("name", system.name());
    fields.put("version", system.version());
    fields.put("createdAt", system.createdAt().toString());
    return fields;
  }

  static Map<String, Object> ofStream(StreamInfo stream) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", stream.id());
    fields.put("name", stream.name());
    fields.put("payloadType", stream.config().payloadType().sqlName());
    fields.put("partitionSize", stream.config().partitionSize());
    fields.put("maxPayloadBytes", stream.config().maxPayloadBytes());
    fields.put("idempotencyKeyTtl", stream.config().idempotencyKeyTtl().toString());
    fields.put("tombstoneTtl", stream.config().tombstoneTtl().toString());
    fields.put("emptyHeadTtl", stream.config().emptyHeadTtl().toString());
    Duration retention = stream.config().retention();
    fields.put("retention", retention == null ? "-" : retention.toString());
    fields.put("allowDropPastCommitted", stream.config().allowDropPastCommitted());
    fields.put("createdAt", stream.createdAt().toString());
    return fields;
  }

  static Map<String, Object> ofUpkeep(StreamUpkeep upkeep) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put(
        "partitions",
        upkeep.partitions().stream()
            .map(
                partition ->
                    partition.firstId()
                        + "-"
                        + partition.lastId()
                        + (partition.isDetaching() ? " (detaching)" : ""))
            .collect(Collectors.joining(", ")));
    fields.put("floor", upkeep.floor());
    fields.put("nextExpiry", orDash(upkeep.nextExpiry()));
    fields.put("heldBy", String.join(", ", upkeep.heldBy()));
    fields.put("succeededAt", orDash(upkeep.succeededAt()));
    fields.put("failingSince", orDash(upkeep.failingSince()));
    fields.put("failures", upkeep.failures());
    fields.put("lastError", orDash(upkeep.lastError()));
    return fields;
  }

  private static String orDash(@Nullable Object value) {
    return value == null ? "-" : value.toString();
  }

  static Map<String, Object> ofLease(LeaseInfo lease) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("session", lease.session() == null ? "-" : lease.session().toString());
    fields.put("low", lease.low());
    fields.put("high", lease.high());
    fields.put("expiresAt", lease.expiresAt().toString());
    fields.put("reclaims", lease.reclaims());
    return fields;
  }

  static Map<String, Object> ofGroup(GroupInfo group) {
    RetryPolicy retry = group.config().retry();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", group.id());
    fields.put("name", group.name());
    fields.put("start", group.config().start().toString());
    fields.put("timeout", group.config().timeout().toString());
    fields.put("maxRangeReclaims", group.config().maxRangeReclaims());
    fields.put("maxRetries", retry.maxRetries());
    fields.put("initialBackoff", retry.initialBackoff().toString());
    fields.put("base", retry.base().toString());
    fields.put("exponent", retry.exponent());
    fields.put("cap", retry.cap().toString());
    fields.put("jitter", retry.jitter());
    fields.put("maxDelays", retry.maxDelays());
    fields.put("deliveryLog", group.config().deliveryLog().sqlName());
    fields.put("createdAt", group.createdAt().toString());
    return fields;
  }
}
