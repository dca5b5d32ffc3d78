package io.sqlstreams.internal.produce;

import io.sqlstreams.config.PayloadType;
import io.sqlstreams.internal.sql.Template;

/**
 * Statements that write messages with idempotency keys. The keys of one statement differ from each
 * other.
 */
final class KeyedSql {
  /**
   * Finds out which keys live, and draws an id for every other message, in the order of their
   * places. A key that lives is looked up one by one, so that neither an id nor a row version is
   * spent on it.
   */
  private static final String KNOWN_ID =
      """
      (SELECT stored.message_id
             FROM {schema}.idempotency_key_{stream} AS stored
             WHERE stored.idempotency_key = sent.idempotency_key
               AND stored.created_at > clock_timestamp() - make_interval(secs => :key_ttl_ns / 1e9))
      """;

  /**
   * The keys of the messages that got an id. The look above doesn't see the key of a transaction
   * that is still open, or that has ended since the statement began: then the row that is there is
   * returned, after a wait for its transaction, and it has another id. At REPEATABLE READ and above
   * PostgreSQL refuses that (40001).
   */
  private static final String USED_KEYS =
      """
      INSERT INTO {schema}.idempotency_key_{stream} AS stored (idempotency_key, message_id)
        SELECT message.idempotency_key, message.drawn_id
        FROM message
        WHERE message.idempotency_key IS NOT NULL
          AND message.drawn_id IS NOT NULL
        -- the same order in every transaction, so that two don't wait for each other
        ORDER BY message.idempotency_key
        ON CONFLICT (idempotency_key) DO UPDATE
        -- a key that has run out changes hands; excluded.created_at is the time of this call
        SET message_id =
              CASE WHEN stored.created_at > excluded.created_at - make_interval(secs => :key_ttl_ns / 1e9)
                   THEN stored.message_id
                   ELSE excluded.message_id END,
            created_at =
              CASE WHEN stored.created_at > excluded.created_at - make_interval(secs => :key_ttl_ns / 1e9)
                   THEN stored.created_at
                   ELSE excluded.created_at END
        RETURNING stored.idempotency_key, stored.message_id
      """;

  /** By key, the originals of the messages that lost such a race. */
  private static final String RACED_KEYS =
      """
      FROM used
      WHERE used.message_id NOT IN (SELECT message.drawn_id FROM message WHERE message.drawn_id IS NOT NULL)
      """;

  /** For json and jsonb. */
  static final Template INSERT_TEXT = insert("convert_from(sent.payload, 'UTF8')::{payload_type}");

  /** For bytea. */
  static final Template INSERT_BYTES = insert("sent.payload");

  /** For json and jsonb, when some are compacted. */
  static final Template INSERT_COMPACTED_TEXT =
      insertCompacted("convert_from(sent.payload, 'UTF8')::{payload_type}");

  /** For bytea, when some are compacted. */
  static final Template INSERT_COMPACTED_BYTES = insertCompacted("sent.payload");

  /** The keys of messages that are then written by COPY; in the transaction that writes them. */
  static final Template RESERVE =
      Template.of(
              """
              -- reserve_keyed_message_ids
              -- before the first id is drawn, see reserve_message_ids
              LOCK TABLE ONLY {schema}.message_log_{stream} IN ROW EXCLUSIVE MODE;
              WITH /* reserve_keyed_message_ids */ message AS MATERIALIZED (
                SELECT
                  looked.place,
                  looked.idempotency_key,
                  looked.known_id,
                  CASE WHEN looked.known_id IS NULL THEN nextval('{schema}.message_log_{stream}_id_seq') END AS drawn_id
                FROM (
                  SELECT
                    sent.place,
                    sent.idempotency_key,
                    {known_id} AS known_id
                  FROM unnest(:idempotency_keys::uuid[]) WITH ORDINALITY AS sent (idempotency_key, place)
                  ORDER BY sent.place
                  OFFSET 0
                ) AS looked
              ),
              used AS (
                {used_keys}
              )
              SELECT
                message.place,
                NULL::uuid AS idempotency_key,
                coalesce(message.known_id, message.drawn_id) AS id,
                message.known_id IS NOT NULL AS duplicate,
                CASE WHEN message.place = 1 THEN pg_current_xact_id()::text END AS transaction
              FROM message
              UNION ALL
              SELECT NULL, used.idempotency_key, used.message_id, true, NULL
              {raced_keys}
              """)
          .withPart("known_id", KNOWN_ID)
          .withPart("used_keys", USED_KEYS)
          .withPart("raced_keys", RACED_KEYS);

  /**
   * A statement of its own: one that also reads the log locks all of its partitions each time, and
   * few writes have duplicates. And after a wait for another transaction it needs a newer snapshot.
   */
  static final Template ORIGINALS =
      Template.of(
          """
          -- compare_with_originals
          SELECT
            sent.place,
            -- null: its partition is gone
            (SELECT {same}
             FROM {schema}.message_log_{stream} AS stored
             WHERE stored.id = sent.id) AS same
          FROM unnest(:ids::bigint[], :payloads::bytea[]) WITH ORDINALITY AS sent (id, payload, place)
          """);

  private KeyedSql() {}

  /**
   * Whether a stored payload is the one that was sent; the casts check it as a write does. Null is
   * that of a tombstone, and like no other.
   */
  static String same(PayloadType payloadType) {
    return switch (payloadType) {
      case JSON ->
          // byte for byte, whatever the database's collation holds for equal
          "stored.payload::text COLLATE \"C\" IS NOT DISTINCT FROM convert_from(sent.payload, 'UTF8')::json::text";
      case JSONB -> "stored.payload IS NOT DISTINCT FROM convert_from(sent.payload, 'UTF8')::jsonb";
      case BYTEA -> "stored.payload IS NOT DISTINCT FROM sent.payload";
    };
  }

  private static Template insert(String payload) {
    return insert(payload, false);
  }

  private static Template insertCompacted(String payload) {
    return insert(payload, true);
  }

  private static Template insert(String payload, boolean compacted) {
    return Template.of(
            """
            -- {name}
            -- the log is locked before anything runs, so before an id is drawn, since the statement writes to it
            WITH message AS MATERIALIZED (
              SELECT
                looked.place,
                looked.idempotency_key,
                looked.schema_version,
                looked.routing_key,
                looked.message_key,
                {looked_rank}
                looked.payload,
                looked.headers,
                looked.options,
                looked.known_id,
                CASE WHEN looked.known_id IS NULL THEN nextval('{schema}.message_log_{stream}_id_seq') END AS drawn_id
              FROM (
                SELECT
                  sent.place,
                  sent.idempotency_key,
                  sent.schema_version,
                  sent.routing_key,
                  sent.message_key,
                  {sent_rank}
                  {payload} AS payload,
                  sent.headers::jsonb AS headers,
                  sent.options::jsonb AS options,
                  {known_id} AS known_id
                FROM unnest(:idempotency_keys::uuid[], :schema_versions::int[], :routing_keys::text[], :message_keys::text[],
                            {ranks} :payloads::bytea[], :headers::text[], :options::text[])
                  WITH ORDINALITY AS sent (idempotency_key, schema_version, routing_key, message_key, {rank} payload, headers, options, place)
                ORDER BY sent.place
                OFFSET 0
              ) AS looked
            ),
            used AS (
              {used_keys}
            ),
            written AS (
              INSERT INTO {schema}.message_log_{stream} (id, schema_version, routing_key, message_key, {rank} payload, headers, options)
              SELECT
                message.drawn_id,
                message.schema_version,
                message.routing_key,
                message.message_key,
                {message_rank}
                message.payload,
                message.headers,
                message.options
              FROM message
              WHERE message.drawn_id IS NOT NULL
                -- its key is new, or it has none
                AND (message.idempotency_key IS NULL OR message.drawn_id IN (SELECT used.message_id FROM used))
              {returned}
            )
            {heads}
            SELECT
              message.place,
              NULL::uuid AS idempotency_key,
              coalesce(message.known_id, message.drawn_id) AS id,
              message.known_id IS NOT NULL AS duplicate
            FROM message
            UNION ALL
            SELECT NULL, used.idempotency_key, used.message_id, true
            {raced_keys}
            """
                .replace("{payload}", payload)
                .replace("{name}", compacted ? "produce_keyed_compacted" : "produce_keyed"))
        .withPart("looked_rank", compacted ? "looked.compaction_rank," : "")
        .withPart("sent_rank", compacted ? "sent.compaction_rank," : "")
        .withPart("ranks", compacted ? ":compaction_ranks::bigint[]," : "")
        .withPart("rank", compacted ? "compaction_rank," : "")
        .withPart("message_rank", compacted ? "message.compaction_rank," : "")
        .withPart("returned", compacted ? CompactionSql.RETURNED : "")
        .withPart("heads", compacted ? CompactionSql.HEADS : "")
        .withPart("known_id", KNOWN_ID)
        .withPart("used_keys", USED_KEYS)
        .withPart("raced_keys", RACED_KEYS);
  }
}
