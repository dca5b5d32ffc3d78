package io.sqlstreams.internal.produce;

import io.sqlstreams.internal.sql.Template;

/** Statements that write messages to a log. */
final class ProduceSql {
  /**
   * For json and jsonb. The payload is sent as bytes, which the driver neither quotes nor copies.
   */
  static final Template INSERT_TEXT =
      insert("convert_from(message.payload, 'UTF8')::{payload_type}");

  /** For bytea. */
  static final Template INSERT_BYTES = insert("message.payload");

  static final Template RESERVE =
      Template.of(
          """
          -- reserve_message_ids
          -- before the first id is drawn: the fence takes an id that nobody with this lock can have for one that never comes;
          -- the partitions' own locks say nothing to it
          LOCK TABLE ONLY {schema}.message_log_{stream} IN ROW EXCLUSIVE MODE;
          SELECT
            nextval('{schema}.message_log_{stream}_id_seq') AS id,
            -- by it one can ask what became of the commit, should its answer be lost
            CASE WHEN place = 1 THEN pg_current_xact_id()::text END AS transaction
          FROM generate_series(1, :count) AS place
          """);

  /** The columns are those that {@link CopyEncoder} writes. */
  static final Template COPY =
      Template.of(
          """
          -- produce_many
          COPY {schema}.message_log_{stream} (id, schema_version, routing_key, message_key, payload, headers, options)
          FROM STDIN (FORMAT BINARY)
          """);

  static final Template LAST_DRAWN_ID =
      Template.of(
          """
          -- last_drawn_message_id
          SELECT coalesce(pg_sequence_last_value('{schema}.message_log_{stream}_id_seq'::regclass), 0) AS id
          """);

  /**
   * What has become of a transaction. A server that has lost its last moments, such as a standby
   * that took over, may never have heard of it: then this fails.
   */
  static final Template COMMIT_STATUS =
      Template.of(
          """
          -- lost_commit_status
          SELECT CASE WHEN pg_is_in_recovery() THEN NULL ELSE pg_xact_status(:transaction::xid8) END AS status
          """);

  /**
   * How many of these messages a transaction has written. After {@link #COMMIT_STATUS}, which may
   * see the end of a transaction before a snapshot does. On a server that has lost its last moments
   * the number of a transaction is given twice, but hardly the ids of its messages with it.
   */
  static final Template WRITTEN_BY =
      Template.of(
          """
          -- lost_commit_messages
          SELECT count(*) AS messages
          FROM {schema}.message_log_{stream}
          WHERE id = ANY(:ids::bigint[])
            AND xmin = :transaction::xid8::xid
          """);

  /** Whether the server takes a payload that is to be written later. */
  static final Template CHECK_JSON =
      Template.of(
          """
          -- check_payload
          SELECT convert_from(:payload::bytea, 'UTF8')::json IS NOT NULL AS is_valid
          """);

  /** The same for jsonb. */
  static final Template CHECK_JSONB =
      Template.of(
          """
          -- check_payload
          SELECT convert_from(:payload::bytea, 'UTF8')::jsonb IS NOT NULL AS is_valid
          """);

  /** Any bytes are taken. */
  static final Template CHECK_BYTES =
      Template.of(
          """
          -- check_payload
          SELECT :payload::bytea IS NOT NULL AS is_valid
          """);

  private ProduceSql() {}

  private static Template insert(String payload) {
    return Template.of(
        """
        -- produce
        INSERT INTO {schema}.message_log_{stream} (schema_version, routing_key, message_key, payload, headers, options)
        SELECT
          message.schema_version,
          message.routing_key,
          message.message_key,
          {payload},
          message.headers::jsonb,
          message.options::jsonb
        FROM unnest(:schema_versions::int[], :routing_keys::text[], :message_keys::text[], :payloads::bytea[], :headers::text[], :options::text[])
          WITH ORDINALITY AS message (schema_version, routing_key, message_key, payload, headers, options, place)
        -- the default of id is computed above this order, so the ids rise with the places
        ORDER BY message.place
        RETURNING id
        """
            .replace("{payload}", payload));
  }
}
