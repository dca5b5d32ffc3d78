package io.sqlstreams.internal.upkeep;

import io.sqlstreams.internal.sql.Template;

/** Looks at many streams at once, and what is noted of their upkeep. */
final class SurveySql {
  static final Template SURVEY =
      Template.of(
          """
          -- survey_streams
          SELECT stream.id,
                 stream.name,
                 stream.payload_type,
                 stream.partition_size,
                 stream.max_payload_bytes,
                 stream.idempotency_key_ttl_ns,
                 stream.tombstone_ttl_ns,
                 stream.empty_compaction_head_ttl_ns,
                 stream.retention_ns,
                 stream.allow_drop_past_committed,
                 stream.created_at,
                 pg_sequence_last_value(to_regclass('{schema}.message_log_' || stream.id || '_id_seq')) AS last_id,
                 upkeep.floor,
                 upkeep.failures
          FROM {schema}.stream_config AS stream
          JOIN {schema}.stream_upkeep AS upkeep ON upkeep.stream_id = stream.id
          WHERE stream.id = ANY (:streams)
          """);

  /** Notes good turns of many streams, where there is something to note. */
  static final Template SUCCEEDED =
      Template.of(
          """
          -- note_upkeep
          UPDATE {schema}.stream_upkeep AS upkeep
          SET succeeded_at = clock_timestamp(),
              failing_since = NULL,
              failures = 0
          WHERE upkeep.stream_id = ANY (ARRAY(
            SELECT due.stream_id
            FROM {schema}.stream_upkeep AS due
            WHERE due.stream_id = ANY (:streams)
            ORDER BY due.stream_id
            -- whoever has locked one notes it the next time
            FOR UPDATE SKIP LOCKED))
          """);

  static final Template FAILED =
      Template.of(
          """
          -- note_failed_upkeep
          UPDATE {schema}.stream_upkeep AS upkeep
          SET failing_since = coalesce(upkeep.failing_since, clock_timestamp()),
              failures = upkeep.failures + 1,
              last_error = :error
          WHERE upkeep.stream_id = ANY (ARRAY(
            SELECT due.stream_id
            FROM {schema}.stream_upkeep AS due
            WHERE due.stream_id = :stream
            FOR UPDATE SKIP LOCKED))
          """);

  static final Template STATUS =
      Template.of(
          """
          -- read_upkeep
          SELECT upkeep.floor, upkeep.succeeded_at, upkeep.failing_since, upkeep.failures, upkeep.last_error
          FROM {schema}.stream_upkeep AS upkeep
          WHERE upkeep.stream_id = :stream
          """);

  static final Template NOW =
      Template.of(
          """
          -- read_clock
          SELECT clock_timestamp() AS now
          """);

  private SurveySql() {}
}
