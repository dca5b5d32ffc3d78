package io.sqlstreams.internal.schedule;

import io.sqlstreams.ScheduleInfo;
import io.sqlstreams.ScheduledRun;
import io.sqlstreams.codec.RawPayload;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.internal.document.ScheduleDocument;
import io.sqlstreams.internal.produce.PlannedMessage;
import io.sqlstreams.internal.sql.Instants;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A schedule's row.
 *
 * @param info what everybody may know
 * @param streamId the stream that it produces to
 * @param payload its payload, which is never changed
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record Schedule(ScheduleInfo info, long streamId, byte[] payload) {
  static Schedule read(ResultSet row) throws SQLException {
    byte[] payload = Objects.requireNonNull(row.getBytes("payload"), "the payload of a schedule");
    @Nullable Long timeout = row.getObject("timeout_ns", Long.class);
    ScheduleConfig config =
        ScheduleDocument.read(
            row.getString("missed_run_policy"),
            row.getString("concurrency"),
            timeout == null ? null : Duration.ofNanos(timeout),
            row.getString("metadata"));
    return new Schedule(
        new ScheduleInfo(
            row.getLong("id"),
            row.getString("name"),
            row.getString("stream"),
            Cron.of(row.getString("expression"), row.getString("time_zone")),
            config,
            row.getInt("schema_version"),
            RawPayload.of(payload),
            row.getBoolean("suspended"),
            Instants.orNull(row, "next_scheduled_at"),
            Instants.orNull(row, "last_scheduled_at"),
            row.getObject("last_message_id", Long.class),
            Instants.of(row, "created_at")),
        row.getLong("stream_id"),
        payload);
  }

  long id() {
    return info.id();
  }

  /** The one message of this planned time. */
  PlannedMessage message(Instant planned) {
    return new PlannedMessage(
        info.schemaVersion(),
        payload,
        info.config().options().withIdempotencyKey(key(planned)),
        new ScheduledRun(info.name(), planned, false));
  }

  /** One more message. */
  PlannedMessage messageByHand(Instant now) {
    return new PlannedMessage(
        info.schemaVersion(),
        payload,
        info.config().options(),
        new ScheduledRun(info.name(), now, true));
  }

  /**
   * The cursor alone sees to it that there is one message for each planned time, for ever. The key
   * does so for as long as it lives, whatever somebody writes into the cursor by hand. A schedule
   * that was destroyed and registered again is another one.
   */
  private String key(Instant planned) {
    return "sqlstreams schedule " + info.id() + " of " + info.createdAt() + " at " + planned;
  }

  /** Whether it is what this declares. */
  boolean is(ScheduleDeclaration declared) {
    return streamId == declared.stream().id()
        && info.cron().equals(declared.cron())
        && info.config().equals(declared.config())
        && info.schemaVersion() == declared.schemaVersion()
        && Arrays.equals(payload, declared.payload());
  }

  /** The moment after which its planned times begin anew. */
  Instant restart(Instant now) {
    @Nullable Instant last = info.lastScheduledAt();
    return last != null && last.isAfter(now) ? last : now;
  }
}
