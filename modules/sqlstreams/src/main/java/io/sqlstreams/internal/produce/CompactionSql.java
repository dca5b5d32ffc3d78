package io.sqlstreams.internal.produce;

import io.sqlstreams.internal.sql.Template;

/**
 * What the writes of compacted messages do beside the others: they take the heads of their keys, in
 * the same transaction, after every idempotency key.
 */
final class CompactionSql {
  /** What {@link #HEADS} reads of the messages that were written. */
  static final String RETURNED =
      "RETURNING id, message_key, schema_version, compaction_rank, payload IS NULL AS tombstone";

  /**
   * What happens to the head that is there, whose row is locked by now, and was waited for: the
   * greater one wins.
   */
  private static final String WIN =
      """
      ON CONFLICT (compaction_key) DO UPDATE
        SET message_id = excluded.message_id,
            schema_version = excluded.schema_version,
            compaction_rank = excluded.compaction_rank,
            tombstone = excluded.tombstone,
            updated_at = clock_timestamp()
        WHERE head.message_id IS NULL
          OR (head.schema_version, head.compaction_rank, head.message_id)
             < (excluded.schema_version, excluded.compaction_rank, excluded.message_id)
      """;

  /**
   * Takes the heads of the messages in {@code written}. It reads all of them before it locks the
   * first head, so the log and the idempotency keys are locked before.
   */
  static final String HEADS =
      """
      , headed AS (
        INSERT INTO {schema}.compaction_head_{stream} AS head (compaction_key, message_id, schema_version, compaction_rank, tombstone)
        -- of several messages of a key the winner alone
        SELECT DISTINCT ON (written.message_key COLLATE "C")
          written.message_key, written.id, written.schema_version, written.compaction_rank, written.tombstone
        FROM written
        WHERE written.compaction_rank IS NOT NULL
        -- by key: the same order in every transaction, so that two don't wait for each other
        ORDER BY written.message_key COLLATE "C", written.schema_version DESC, written.compaction_rank DESC, written.id DESC
        {win}
      )
      """
          .replace("{win}", WIN.strip());

  /** For json and jsonb. */
  static final Template INSERT_TEXT =
      insert("convert_from(message.payload, 'UTF8')::{payload_type}");

  /** For bytea. */
  static final Template INSERT_BYTES = insert("message.payload");

  /** The columns are those that {@link CopyEncoder} writes when some are compacted. */
  static final Template COPY =
      Template.of(
          """
          -- produce_many_compacted
          COPY {schema}.message_log_{stream} (id, schema_version, routing_key, message_key, payload, headers, options, compaction_rank)
          FROM STDIN (FORMAT BINARY)
          """);

  /** Takes heads for messages that were written by COPY, one message for each key. */
  static final Template TAKE_HEADS =
      Template.of(
              """
              -- take_compaction_heads
              INSERT INTO {schema}.compaction_head_{stream} AS head (compaction_key, message_id, schema_version, compaction_rank, tombstone)
              SELECT winner.message_key, winner.id, winner.schema_version, winner.compaction_rank, winner.tombstone
              FROM unnest(:message_keys::text[], :ids::bigint[], :schema_versions::int[], :compaction_ranks::bigint[], :tombstones::boolean[])
                AS winner (message_key, id, schema_version, compaction_rank, tombstone)
              -- the same order as everywhere
              ORDER BY winner.message_key COLLATE "C"
              {win}
              """)
          .withPart("win", WIN);

  private CompactionSql() {}

  private static Template insert(String payload) {
    return Template.of(
            """
            -- produce_compacted
            WITH written AS (
              INSERT INTO {schema}.message_log_{stream} (schema_version, routing_key, message_key, payload, headers, options, compaction_rank)
              SELECT
                message.schema_version,
                message.routing_key,
                message.message_key,
                {payload},
                message.headers::jsonb,
                message.options::jsonb,
                message.compaction_rank
              FROM unnest(:schema_versions::int[], :routing_keys::text[], :message_keys::text[], :payloads::bytea[], :headers::text[],
                          :options::text[], :compaction_ranks::bigint[])
                WITH ORDINALITY AS message (schema_version, routing_key, message_key, payload, headers, options, compaction_rank, place)
              -- the default of id is computed above this order, so the ids rise with the places
              ORDER BY message.place
              {returned}
            )
            {heads}
            SELECT written.id
            FROM written
            ORDER BY written.id
            """
                .replace("{payload}", payload))
        .withPart("returned", RETURNED)
        .withPart("heads", HEADS);
  }
}
