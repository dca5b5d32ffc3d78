package io.sqlstreams.internal.schema;

import io.sqlstreams.internal.sql.Template;

/**
 * One stream's family of tables, named by the stream's id. No table here has a stream id: its name
 * says it. None refers to the log, so a partition can go without a look at other tables. And none
 * refers to {@code consumer_group_config}: all streams' tables would hang on that one, each change
 * of it would read the triggers of all, and deleting a group would look into the tables of every
 * stream.
 */
final class StreamTables {
  /** Version 1. */
  static final Template CREATE =
      Template.of(
          """
          -- create_stream_tables
          CREATE TABLE {schema}.message_log_{stream} (
            -- fixed-length columns first, so that no byte goes into alignment
            id              BIGSERIAL      NOT NULL PRIMARY KEY,
            created_at      TIMESTAMPTZ    NOT NULL DEFAULT clock_timestamp(),
            -- null: the message isn't compacted
            compaction_rank BIGINT,
            schema_version  INT            NOT NULL,
            routing_key     TEXT,
            message_key     TEXT,
            payload         {payload_type},
            headers         JSONB,
            options         JSONB
          ) PARTITION BY RANGE (id);
          CREATE INDEX message_log_{stream}_message_key_idx ON {schema}.message_log_{stream} (message_key, id)
            WHERE message_key IS NOT NULL;

          CREATE TABLE {schema}.idempotency_key_{stream} (
            idempotency_key UUID        PRIMARY KEY,
            message_id      BIGINT      NOT NULL,
            created_at      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
          ) WITH (autovacuum_vacuum_scale_factor = 0.02);
          CREATE INDEX idempotency_key_{stream}_created_at_idx ON {schema}.idempotency_key_{stream} (created_at);

          CREATE TABLE {schema}.compaction_head_{stream} (
            compaction_key  TEXT        PRIMARY KEY,
            message_id      BIGINT,
            schema_version  INT,
            compaction_rank BIGINT,
            -- the winner has no payload: its key was deleted
            tombstone       BOOLEAN     NOT NULL DEFAULT false,
            created_at      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
            updated_at      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
            CONSTRAINT compaction_head_{stream}_all_or_none CHECK (num_nonnulls(message_id, schema_version, compaction_rank) IN (0, 3))
          ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02);
          CREATE INDEX compaction_head_{stream}_empty_idx ON {schema}.compaction_head_{stream} (updated_at, compaction_key)
            WHERE message_id IS NULL;
          CREATE INDEX compaction_head_{stream}_tombstone_idx ON {schema}.compaction_head_{stream} (updated_at, compaction_key)
            WHERE tombstone;

          CREATE TABLE {schema}.exception_queue_{stream} (
            consumer_group_id BIGINT      NOT NULL,
            message_id        BIGINT      NOT NULL,
            status            TEXT        NOT NULL CHECK (status IN ('ready', 'inflight', 'deferred', 'dead', 'superseded')),
            message_key       TEXT,
            concurrency       TEXT        NOT NULL CHECK (concurrency IN ('parallel', 'exclusive', 'ordered')),
            -- the number of the attempt that comes next, or of the one that runs
            attempts          INT         NOT NULL CHECK (attempts >= 0),
            -- how many of them were before the last redrive, and count neither as failures nor as delays any more
            forgiven          INT         NOT NULL DEFAULT 0 CHECK (forgiven BETWEEN 0 AND attempts),
            -- how many of the others asked for a delay; the rest failed
            delays            INT         NOT NULL DEFAULT 0,
            can_run_after     TIMESTAMPTZ NOT NULL,
            last_error        TEXT,
            -- the process of its last attempt is gone, perhaps because of it: it runs alone among its like
            suspect           BOOLEAN     NOT NULL DEFAULT false,
            lease_token       UUID,
            lease_expires_at  TIMESTAMPTZ,
            created_at        TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
            updated_at        TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
            PRIMARY KEY (consumer_group_id, message_id),
            CONSTRAINT exception_queue_{stream}_concurrency CHECK (concurrency = 'parallel' OR message_key IS NOT NULL),
            CONSTRAINT exception_queue_{stream}_delays CHECK (delays BETWEEN 0 AND attempts - forgiven),
            CONSTRAINT exception_queue_{stream}_lease CHECK (
              CASE WHEN status = 'inflight' THEN num_nulls(lease_token, lease_expires_at) = 0
                   ELSE num_nonnulls(lease_token, lease_expires_at) = 0 END)
          ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);
          CREATE INDEX exception_queue_{stream}_due_idx ON {schema}.exception_queue_{stream} (consumer_group_id, suspect, can_run_after, message_id)
            WHERE status = 'ready';
          CREATE INDEX exception_queue_{stream}_lease_idx ON {schema}.exception_queue_{stream} (consumer_group_id, lease_expires_at, message_id)
            WHERE status = 'inflight';
          -- what holds the committed cursor back
          CREATE INDEX exception_queue_{stream}_unresolved_idx ON {schema}.exception_queue_{stream} (consumer_group_id, message_id)
            WHERE status IN ('ready', 'inflight', 'deferred');
          -- so that what is over can be counted and listed without a walk over the rest
          CREATE INDEX exception_queue_{stream}_resolved_idx ON {schema}.exception_queue_{stream} (consumer_group_id, status, message_id)
            WHERE status IN ('dead', 'superseded');
          -- the first message of a key in each state; a row is in one of them, and each look fits one alone
          CREATE INDEX exception_queue_{stream}_ready_key_idx ON {schema}.exception_queue_{stream} (consumer_group_id, message_key, message_id)
            WHERE message_key IS NOT NULL AND status = 'ready';
          CREATE INDEX exception_queue_{stream}_inflight_key_idx ON {schema}.exception_queue_{stream} (consumer_group_id, message_key, message_id)
            WHERE message_key IS NOT NULL AND status = 'inflight';
          CREATE INDEX exception_queue_{stream}_deferred_key_idx ON {schema}.exception_queue_{stream} (consumer_group_id, message_key, message_id)
            WHERE message_key IS NOT NULL AND status = 'deferred';

          CREATE TABLE {schema}.delivery_log_{stream} (
            id                BIGINT      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            consumer_group_id BIGINT      NOT NULL,
            message_id        BIGINT      NOT NULL,
            attempt           INT         NOT NULL CHECK (attempt >= 0),
            status            TEXT        NOT NULL CHECK (status IN ('success', 'failure', 'delayed', 'deferred', 'superseded', 'expired', 'killed')),
            error             TEXT,
            attempted_at      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
          );
          CREATE INDEX delivery_log_{stream}_message_id_idx ON {schema}.delivery_log_{stream} (consumer_group_id, message_id);

          -- one row a group, updated with every claim: room on its page keeps the updates off the index
          CREATE TABLE {schema}.consumer_group_cursor_{stream} (
            consumer_group_id BIGINT PRIMARY KEY,
            claimed           BIGINT NOT NULL DEFAULT 0 CHECK (claimed >= 0),
            committed         BIGINT NOT NULL DEFAULT 0 CHECK (committed BETWEEN 0 AND claimed),
            settled_head      BIGINT NOT NULL DEFAULT 0 CHECK (settled_head >= 0),
            -- how often it was moved back, or dead messages were redriven: what was worked out before that counts no more
            rewinds           INT    NOT NULL DEFAULT 0,
            -- how often the set of what it reads has changed: its bindings, and the versions below
            filter            INT    NOT NULL DEFAULT 0,
            -- the set holds for every message above this id
            filter_above      BIGINT NOT NULL DEFAULT 0 CHECK (filter_above >= 0),
            -- null: every version
            schema_versions   INT[]  CHECK (cardinality(schema_versions) > 0),
            pending_head      BIGINT,
            pending_xid       XID,
            pending_writers   TEXT[],
            CONSTRAINT consumer_group_cursor_{stream}_pending CHECK (num_nonnulls(pending_head, pending_writers) IN (0, 2))
          ) WITH (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);

          CREATE TABLE {schema}.claim_lease_{stream} (
            token             UUID        PRIMARY KEY,
            consumer_group_id BIGINT      NOT NULL,
            -- the ids above low up to high
            low               BIGINT      NOT NULL CHECK (low >= 0),
            high              BIGINT      NOT NULL,
            expires_at        TIMESTAMPTZ NOT NULL,
            reclaims          INT         NOT NULL DEFAULT 0 CHECK (reclaims >= 0),
            -- null: given back, nobody's
            session           UUID,
            -- ids in between that don't belong to it: what became of them was settled when the range was claimed
            excluded          BIGINT[],
            -- those that do; null: all. So a set that changed later says nothing about this range
            included          BIGINT[],
            -- under which of the group's sets it was claimed
            filter            INT         NOT NULL DEFAULT 0,
            CONSTRAINT claim_lease_{stream}_range CHECK (low <= high)
          ) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500, autovacuum_vacuum_cost_delay = 0);
          CREATE INDEX claim_lease_{stream}_low_idx ON {schema}.claim_lease_{stream} (consumer_group_id, low);

          CREATE TABLE {schema}.binding_config_{stream} (
            id                BIGINT      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            consumer_group_id BIGINT      NOT NULL,
            -- as declared, and as the anchored regular expression that it means
            pattern           TEXT        CHECK (octet_length(pattern) BETWEEN 1 AND 1024),
            regex             TEXT,
            -- or what the headers must hold, all of it
            headers           JSONB,
            created_at        TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp(),
            UNIQUE (consumer_group_id, pattern),
            CONSTRAINT binding_config_{stream}_kind CHECK (
              CASE WHEN headers IS NULL THEN num_nonnulls(pattern, regex) = 2
                   ELSE num_nulls(pattern, regex) = 2 END),
            -- an empty object would match everything
            CONSTRAINT binding_config_{stream}_headers CHECK (jsonb_typeof(headers) = 'object' AND headers <> '{}')
          );

          CREATE TABLE {schema}.binding_config_log_{stream} (
            id                BIGINT      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            consumer_group_id BIGINT      NOT NULL,
            -- the set's number, and what is in it
            filter            INT         NOT NULL,
            patterns          TEXT[]      NOT NULL,
            headers           JSONB[]     NOT NULL,
            -- null: every version
            schema_versions   INT[],
            result            TEXT        NOT NULL CHECK (result IN ('installed', 'joined', 'waiting')),
            -- it holds for every message above this id
            above             BIGINT      NOT NULL CHECK (above >= 0),
            declared_at       TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
          );
          CREATE INDEX binding_config_log_{stream}_consumer_group_id_idx ON {schema}.binding_config_log_{stream} (consumer_group_id, id);

          -- what people did to a group's deliveries by hand, and what retention took from it
          CREATE TABLE {schema}.operation_log_{stream} (
            id                BIGINT      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            consumer_group_id BIGINT      NOT NULL,
            operation         TEXT        NOT NULL CHECK (operation IN ('rewind', 'redrive', 'discard', 'retention')),
            -- what was asked for, and what it met
            detail            JSONB       NOT NULL,
            performed_at      TIMESTAMPTZ NOT NULL DEFAULT clock_timestamp()
          );
          CREATE INDEX operation_log_{stream}_consumer_group_id_idx ON {schema}.operation_log_{stream} (consumer_group_id, id);
          """);

  /**
   * Every table of a family. Views, foreign keys and other tables of users that hang on them stop
   * the drop.
   */
  static final Template DROP =
      Template.of(
          """
          -- drop_stream_tables
          -- all of them are locked, while others hold some and want more: this one gives up well before
          -- deadlock_timeout has somebody's transaction end
          SET LOCAL lock_timeout = '200ms';
          -- first what a claim locks first, so that it is met before the rest is held
          DROP TABLE IF EXISTS
            {schema}.claim_lease_{stream},
            {schema}.consumer_group_cursor_{stream},
            {schema}.message_log_{stream},
            {schema}.idempotency_key_{stream},
            {schema}.compaction_head_{stream},
            {schema}.exception_queue_{stream},
            {schema}.delivery_log_{stream},
            {schema}.binding_config_{stream},
            {schema}.binding_config_log_{stream},
            {schema}.operation_log_{stream};
          SET LOCAL lock_timeout = '2s'
          """);

  private StreamTables() {}
}
