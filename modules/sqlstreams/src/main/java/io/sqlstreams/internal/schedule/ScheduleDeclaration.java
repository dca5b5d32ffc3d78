package io.sqlstreams.internal.schedule;

import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.Cron;
import io.sqlstreams.config.ScheduleConfig;
import io.sqlstreams.internal.document.ScheduleDocument;
import io.sqlstreams.internal.sql.Call;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What somebody declares a schedule to be. The array is never changed.
 *
 * @param stream the stream that it is to produce to
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record ScheduleDeclaration(
    StreamInfo stream, Cron cron, ScheduleConfig config, int schemaVersion, byte[] payload) {
  /** Binds its columns. */
  Call bind(Call call) throws SQLException {
    @Nullable Duration timeout = config.options().timeout();
    return call.set("stream_id", stream.id())
        .set("expression", cron.expression())
        .set("time_zone", cron.zone().getId())
        .set("missed_run_policy", config.missedRuns().sqlName())
        .set("schema_version", schemaVersion)
        .set("payload", payload)
        .set(
            "concurrency",
            config.options().concurrency() == null
                ? null
                : config.options().concurrency().sqlName())
        .set("timeout_ns", timeout == null ? null : Long.toString(timeout.toNanos()))
        .set("metadata", ScheduleDocument.write(config));
  }
}
