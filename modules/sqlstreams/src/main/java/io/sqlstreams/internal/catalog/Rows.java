package io.sqlstreams.internal.catalog;

import io.sqlstreams.GroupInfo;
import io.sqlstreams.StreamInfo;
import io.sqlstreams.config.Binding;
import io.sqlstreams.config.GroupConfig;
import io.sqlstreams.config.PayloadType;
import io.sqlstreams.config.Start;
import io.sqlstreams.config.StreamConfig;
import io.sqlstreams.internal.document.BindingDocument;
import io.sqlstreams.internal.document.GroupDocument;
import io.sqlstreams.internal.sql.Instants;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What the rows of the catalog mean. */
final class Rows {
  private static final String NO_SETTINGS = "{}";

  private Rows() {}

  static StreamInfo stream(ResultSet row) throws SQLException {
    StreamConfig config =
        new StreamConfig(
            PayloadType.valueOf(row.getString("payload_type").toUpperCase(Locale.ROOT)),
            row.getLong("partition_size"),
            row.getInt("max_payload_bytes"),
            ttl(row, "idempotency_key_ttl_ns", StreamConfig.DEFAULT_IDEMPOTENCY_KEY_TTL),
            ttl(row, "tombstone_ttl_ns", StreamConfig.DEFAULT_TOMBSTONE_TTL),
            ttl(row, "empty_compaction_head_ttl_ns", StreamConfig.DEFAULT_EMPTY_HEAD_TTL),
            durationOrNull(row, "retention_ns"),
            row.getBoolean("allow_drop_past_committed"));
    return new StreamInfo(row.getLong("id"), row.getString("name"), config, createdAt(row));
  }

  /** Null: declared by a version that had no such setting. */
  private static Duration ttl(ResultSet row, String column, Duration byDefault)
      throws SQLException {
    @Nullable Duration declared = durationOrNull(row, column);
    return declared == null ? byDefault : declared;
  }

  private static @Nullable Duration durationOrNull(ResultSet row, String column)
      throws SQLException {
    long nanos = row.getLong(column);
    return row.wasNull() ? null : Duration.ofNanos(nanos);
  }

  static GroupInfo group(ResultSet row) throws SQLException {
    return new GroupInfo(
        row.getLong("id"),
        row.getString("name"),
        groupConfig(row, bindings(row)),
        schemaVersions(row),
        createdAt(row));
  }

  static GroupConfig groupConfig(ResultSet row, Set<Binding> bindings) throws SQLException {
    Start start = StartText.parse(row.getString("start_position"));
    @Nullable String settings = row.getString("metadata");
    return GroupDocument.read(start, bindings, settings == null ? NO_SETTINGS : settings);
  }

  static Set<Binding> bindings(ResultSet row) throws SQLException {
    return BindingDocument.read(row.getString("bindings"));
  }

  /** Empty: every version. */
  static List<Integer> schemaVersions(ResultSet row) throws SQLException {
    @Nullable Array versions = row.getArray("schema_versions");
    return versions == null ? List.of() : List.of((Integer[]) versions.getArray());
  }

  static Instant createdAt(ResultSet row) throws SQLException {
    return Instants.of(row, "created_at");
  }
}
