package io.sqlstreams.cli;

import io.sqlstreams.DeliveryAttempt;
import io.sqlstreams.ExceptionCounts;
import io.sqlstreams.ExceptionInfo;
import io.sqlstreams.FenceBlocker;
import io.sqlstreams.GroupBindings;
import io.sqlstreams.GroupDelivery;
import io.sqlstreams.GroupInfo;
import io.sqlstreams.GroupSnapshot;
import io.sqlstreams.LeaseInfo;
import io.sqlstreams.MessageInfo;
import io.sqlstreams.Rewind;
import io.sqlstreams.ScheduleInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.StreamUpkeep;
import io.sqlstreams.SystemInfo;
import io.sqlstreams.VersionInfo;
import io.sqlstreams.WorkerInfo;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.RetryPolicy;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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

  static Map<String, Object> ofException(ExceptionInfo exception) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("messageId", exception.messageId());
    fields.put("status", exception.status().sqlName());
    fields.put("messageKey", Text.orNone(exception.messageKey()));
    fields.put("attempts", exception.attempts());
    fields.put("delays", exception.delays());
    fields.put("canRunAfter", exception.canRunAfter().toString());
    fields.put("createdAt", exception.createdAt().toString());
    fields.put("lastError", Text.orNone(exception.lastError()));
    return fields;
  }

  static Map<String, Object> ofSnapshot(GroupSnapshot snapshot) {
    ExceptionCounts exceptions = snapshot.exceptions();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("takenAt", snapshot.takenAt().toString());
    fields.put("head", snapshot.head());
    fields.put("claimed", snapshot.claimed());
    fields.put("committed", snapshot.committed());
    fields.put("lag", snapshot.lag().messages());
    fields.put("lagIsExact", snapshot.lag().isExact());
    fields.put("unclaimed", snapshot.lag().unclaimed());
    fields.put("open", snapshot.lag().open());
    fields.put("openRanges", snapshot.openRanges());
    fields.put("due", exceptions.due());
    fields.put("retrying", exceptions.retrying());
    fields.put("delayed", exceptions.delayed());
    fields.put("inflight", exceptions.inflight());
    fields.put("deferred", exceptions.deferred());
    fields.put("dead", exceptions.dead());
    fields.put("superseded", exceptions.superseded());
    fields.put("overdue", snapshot.overdue().toString());
    fields.put("blockers", snapshot.blockers().stream().map(FenceBlocker::toString).toList());
    return fields;
  }

  static Map<String, Object> ofBindings(GroupBindings bindings) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("bindings", bindings.bindings().stream().map(Object::toString).toList());
    fields.put("schemaVersions", bindings.schemaVersions());
    fields.put("state", bindings.state().name().toLowerCase(Locale.ROOT));
    fields.put("above", bindings.above());
    fields.put("declaredAt", orNone(bindings.declaredAt()));
    return fields;
  }

  static Map<String, Object> ofRewind(Rewind rewind) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("claimedBefore", rewind.claimedBefore());
    fields.put("position", rewind.position());
    fields.put("messages", rewind.messages());
    fields.put("firstId", orNone(rewind.firstId()));
    fields.put("lastId", orNone(rewind.lastId()));
    fields.put("firstCreatedAt", orNone(rewind.firstCreatedAt()));
    fields.put("lastCreatedAt", orNone(rewind.lastCreatedAt()));
    fields.put("openExceptions", rewind.openExceptions());
    fields.put("deadExceptions", rewind.deadExceptions());
    return fields;
  }

  static Map<String, Object> ofVersion(VersionInfo version) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("version", version.version());
    fields.put("canRetire", version.canRetire());
    fields.put("heads", version.heads());
    fields.put(
        "groups",
        version.groups().stream()
            .filter(rest -> !rest.isNothing())
            .map(
                rest ->
                    Text.oneLine(rest.group())
                        + ": "
                        + (rest.unread() + rest.waiting() + rest.dead())
                        + (rest.isExact() ? "" : "+"))
            .toList());
    return fields;
  }

  static Map<String, Object> ofMessage(MessageInfo message) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("id", message.id());
    fields.put("createdAt", message.createdAt().toString());
    fields.put("schemaVersion", message.schemaVersion());
    fields.put("key", Text.orNone(message.key()));
    fields.put("routingKey", Text.orNone(message.routingKey()));
    fields.put("headers", message.headers());
    @Nullable RawPayload payload = message.payload();
    fields.put("payload", payload == null ? "-" : Text.payload(payload.bytes()));
    for (GroupDelivery delivery : message.deliveries()) {
      fields.put("group " + Text.oneLine(delivery.group()), delivery(delivery));
    }
    return fields;
  }

  /** The state, then each attempt that the delivery log has. */
  static List<String> delivery(GroupDelivery delivery) {
    List<String> lines = new ArrayList<>();
    lines.add(delivery.state().name().toLowerCase(Locale.ROOT));
    for (DeliveryAttempt attempt : delivery.history()) {
      lines.add(
          attempt.at()
              + " attempt "
              + attempt.attempt()
              + " "
              + attempt.event().name().toLowerCase(Locale.ROOT)
              + (attempt.error() == null ? "" : ": " + Text.oneLine(attempt.error())));
    }
    return lines;
  }

  private static Object orNone(@Nullable Object value) {
    return value == null ? "-" : value instanceof Instant ? value.toString() : value;
  }

  static Map<String, Object> ofWorker(WorkerInfo worker) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", worker.name());
    fields.put("stream", Text.orNone(worker.stream()));
    fields.put("suspended", worker.isSuspended());
    fields.put("targetInstances", worker.targetInstances());
    fields.put("instances", worker.instances().size());
    fields.put("failures", worker.failures());
    fields.put("heldUntil", orNone(worker.heldUntil()));
    return fields;
  }

  static Map<String, Object> ofSchedule(ScheduleInfo schedule, int times) {
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put("name", schedule.name());
    fields.put("stream", schedule.stream());
    fields.put("cron", schedule.cron().expression());
    fields.put("zone", schedule.cron().zone().getId());
    fields.put("missedRuns", schedule.config().missedRuns().sqlName());
    fields.put("suspended", schedule.suspended());
    fields.put("nextTimes", schedule.nextTimes(times).stream().map(Instant::toString).toList());
    fields.put("lastScheduledAt", orNone(schedule.lastScheduledAt()));
    fields.put("lastMessageId", orNone(schedule.lastMessageId()));
    return fields;
  }
}
