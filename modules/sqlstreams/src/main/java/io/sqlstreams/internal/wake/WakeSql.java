package io.sqlstreams.internal.wake;

import io.sqlstreams.internal.sql.Template;

/** Notifications, and the looks that do without them. */
final class WakeSql {
  /** What LISTEN takes, quoted; {@code pg_notify} takes the same as text, and folds nothing. */
  static final Template LISTEN =
      Template.of(
          """
          -- listen
          LISTEN "sqlstreams.{schema_name}"
          """);

  static final Template UNLISTEN =
      Template.of(
          """
          -- unlisten
          UNLISTEN *
          """);

  /** Whether the connection still answers, and which session of the server it speaks to. */
  static final Template BACKEND =
      Template.of(
          """
          -- read_backend
          SELECT pg_backend_pid() AS pid
          """);

  /**
   * The streams' ids and nothing else: no data of users, and far below the limit of 8,000 bytes.
   */
  static final Template NOTIFY =
      Template.of(
          """
          -- notify_streams
          SELECT pg_notify('sqlstreams.{schema_name}', stream.id::TEXT)
          FROM unnest(:streams::BIGINT[]) AS stream (id)
          """);

  /**
   * The newest id that was drawn in each of these streams, where it differs from what is known. The
   * server keeps a lock on each sequence until the statement ends: few at a time.
   */
  static final Template SEQUENCES =
      Template.of(
          """
          -- look_at_sequences
          SELECT drawn.stream, drawn.newest
          FROM (
            SELECT known.stream,
                   known.newest AS known_newest,
                   -- null for a stream that has drawn none, or is gone
                   coalesce(pg_catalog.pg_sequence_last_value(
                     pg_catalog.to_regclass('{schema}.message_log_' || known.stream || '_id_seq')), 0) AS newest
            FROM unnest(:streams::BIGINT[], :newest::BIGINT[]) AS known (stream, newest)
            -- so that the sequence is asked once
            OFFSET 0
          ) AS drawn
          WHERE drawn.newest <> drawn.known_newest
          """);

  /**
   * Who may still bring messages to these streams with ids that were drawn before: each of them
   * holds this lock on the log from before it draws until its messages are visible. Null for
   * nobody.
   */
  static final Template WRITERS =
      Template.of(
          """
          -- look_at_writers
          WITH
          writer AS MATERIALIZED (
            SELECT held.relation, string_agg(DISTINCT held.virtualtransaction, ' ') AS writers
            FROM pg_catalog.pg_locks AS held
            WHERE held.locktype = 'relation'
              AND held.database = (SELECT db.oid FROM pg_catalog.pg_database AS db WHERE db.datname = current_database())
              AND held.mode = 'RowExclusiveLock'
              AND held.granted
            GROUP BY held.relation
          )
          SELECT known.stream, writer.writers
          FROM unnest(:streams::BIGINT[]) AS known (stream)
          LEFT JOIN writer
            ON writer.relation = pg_catalog.to_regclass('{schema}.message_log_' || known.stream)::OID
          """);

  /**
   * Which of these groups was changed by hand, declared anew or destroyed since it was looked at. A
   * row's {@code xmin} is the transaction that wrote it, so it differs after every change, whatever
   * the order in which changes commit and whatever clocks say.
   */
  static final Template GROUPS =
      Template.of(
          """
          -- look_at_groups
          SELECT seen.id, seen.version, seen.settings
          FROM (
            SELECT known.id,
                   known.version AS known_version,
                   concat(consumer_group.xmin, ' ', worker.xmin) AS version,
                   worker.metadata::TEXT AS settings
            FROM unnest(:groups::BIGINT[], :versions::TEXT[]) AS known (id, version)
            LEFT JOIN {schema}.consumer_group_config AS consumer_group ON consumer_group.id = known.id
            LEFT JOIN {schema}.worker_config AS worker
              ON worker.consumer_group_id = known.id
              AND worker.name = 'consumer'
          ) AS seen
          WHERE seen.version <> seen.known_version
          """);

  private WakeSql() {}
}
