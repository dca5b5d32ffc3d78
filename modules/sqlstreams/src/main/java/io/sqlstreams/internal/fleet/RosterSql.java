package io.sqlstreams.internal.fleet;

import io.sqlstreams.internal.sql.Template;

/** Statements by which a process takes workers, keeps them and gives them back: each for all. */
final class RosterSql {
  /**
   * Finds the workers that look free and locks them; what somebody else is about to take is left to
   * him. It is a command of its own: whether they are free is decided by the next one, whose
   * snapshot is newer than these locks. By the older one, a worker that another process took while
   * this statement began would be taken twice. Locks and writes nothing when none is free.
   */
  private static final String LOCK_FREE =
      """
      -- lock_free_workers
      SELECT set_config('sqlstreams.free_workers', coalesce(array_agg(free.id)::TEXT, '{}'), true)
      FROM (
        SELECT worker.id
        FROM {schema}.worker_config AS worker
        LEFT JOIN (
          SELECT instance.worker_config_id,
                 count(*) FILTER (WHERE instance.expires_at > clock_timestamp()) AS alive,
                 bool_or(mine.id IS NOT NULL) AS is_mine
          FROM {schema}.worker_instance AS instance
          LEFT JOIN unnest(:shared::BIGINT[]) AS mine (id) ON mine.id = instance.id
          GROUP BY instance.worker_config_id
        ) AS held ON held.worker_config_id = worker.id
        WHERE worker.name = ANY (:names)
          AND worker.target_instances <> 0
          -- no process holds two of one worker
          AND NOT coalesce(held.is_mine, false)
          AND (worker.target_instances = -1 OR coalesce(held.alive, 0) < worker.target_instances)
        -- the next look takes the rest: a statement is to be short, whatever there is to take
        LIMIT :most
        FOR NO KEY UPDATE OF worker SKIP LOCKED
      ) AS free;
      """;

  /**
   * Takes the workers that are free, and gives the instances, of whichever process, that are to be
   * let go. An instance that has expired is removed with that, unless a transaction that it fences
   * is still open: then it counts, and the worker isn't free.
   */
  static final Template LOOK =
      Template.of(
              """
          -- claim_workers
          WITH
          free AS MATERIALIZED (
            SELECT worker.id,
                   worker.name,
                   worker.target_instances,
                   coalesce(worker.system_id, worker.stream_id, worker.consumer_group_id) AS owner
            FROM {schema}.worker_config AS worker
            WHERE worker.id = ANY (current_setting('sqlstreams.free_workers')::BIGINT[])
          ),
          gone AS (
            DELETE FROM {schema}.worker_instance AS instance
            WHERE instance.id = ANY (ARRAY(
              SELECT expired.id
              FROM {schema}.worker_instance AS expired
              JOIN {schema}.worker_config AS worker ON worker.id = expired.worker_config_id
              WHERE expired.expires_at <= clock_timestamp()
                -- no others: whoever takes a worker is to see how often it has failed
                AND (worker.target_instances = 0 OR worker.id IN (SELECT free.id FROM free))
              FOR UPDATE OF expired SKIP LOCKED))
            RETURNING instance.id, instance.worker_config_id, instance.attempts
          ),
          failed AS (
            SELECT gone.worker_config_id, max(gone.attempts) AS attempts
            FROM gone
            GROUP BY gone.worker_config_id
          ),
          held AS (
            SELECT instance.worker_config_id, count(*) AS instances
            FROM {schema}.worker_instance AS instance
            JOIN free ON free.id = instance.worker_config_id
            WHERE NOT EXISTS (SELECT FROM gone WHERE gone.id = instance.id)
            GROUP BY instance.worker_config_id
          ),
          claimed AS (
            INSERT INTO {schema}.worker_instance (worker_config_id, token, attempts, expires_at)
            SELECT free.id,
                   gen_random_uuid(),
                   coalesce(failed.attempts, 0),
                   clock_timestamp() + :lease_us * INTERVAL '1 microsecond'
            FROM free
            LEFT JOIN failed ON failed.worker_config_id = free.id
            LEFT JOIN held ON held.worker_config_id = free.id
            WHERE free.target_instances = -1
               OR coalesce(held.instances, 0) < free.target_instances
            RETURNING id, worker_config_id, token, attempts, created_at, expires_at
          ),
          logged AS (
            INSERT INTO {schema}.worker_instance_log (
              worker_config_id, worker_instance_id, token, attempts, instance_created_at, expires_at)
            SELECT claimed.worker_config_id, claimed.id, claimed.token, claimed.attempts, claimed.created_at, claimed.expires_at
            FROM claimed
          )
          SELECT claimed.id,
                 free.name,
                 claimed.worker_config_id AS worker,
                 free.owner,
                 claimed.token,
                 claimed.attempts,
                 free.target_instances <> 1 AS is_shared
          FROM claimed
          JOIN free ON free.id = claimed.worker_config_id
          UNION ALL
          -- to let go: suspended, or more than are wanted
          SELECT instance.id, NULL, NULL, NULL, NULL, NULL, NULL
          FROM (
            SELECT every.id,
                   every.worker_config_id,
                   row_number() OVER (PARTITION BY every.worker_config_id ORDER BY every.id) AS number
            FROM {schema}.worker_instance AS every
          ) AS instance
          JOIN {schema}.worker_config AS worker ON worker.id = instance.worker_config_id
          WHERE worker.target_instances >= 0
            AND instance.number > worker.target_instances
          """)
          .behind(LOCK_FREE);

  /**
   * Renews instances and records what became of their last turns. Rows that somebody is removing
   * are passed over. Gives the tokens that still exist, and whether they were renewed.
   */
  static final Template RENEW =
      Template.of(
          """
          -- renew_workers
          WITH
          mine AS MATERIALIZED (
            SELECT mine.token, mine.attempts, mine.rest_us
            FROM unnest(:tokens::UUID[], :attempts::INT[], :rests_us::BIGINT[]) AS mine (token, attempts, rest_us)
          ),
          free AS MATERIALIZED (
            SELECT instance.id, mine.attempts, mine.rest_us
            FROM {schema}.worker_instance AS instance
            JOIN mine ON mine.token = instance.token
            JOIN {schema}.worker_config AS worker ON worker.id = instance.worker_config_id
            FOR NO KEY UPDATE OF instance SKIP LOCKED
            -- the log refers to it, and would wait for a destroy
            FOR KEY SHARE OF worker SKIP LOCKED
          ),
          renewed AS (
            UPDATE {schema}.worker_instance AS instance
            -- a worker that rests stays where it is: nobody else is to run it before
            SET expires_at = clock_timestamp() + greatest(:lease_us, free.rest_us) * INTERVAL '1 microsecond',
                attempts = free.attempts
            FROM free
            WHERE instance.id = free.id
            RETURNING instance.id, instance.worker_config_id, instance.token, instance.attempts, instance.created_at,
                      instance.expires_at
          ),
          logged AS (
            INSERT INTO {schema}.worker_instance_log (
              worker_config_id, worker_instance_id, token, attempts, instance_created_at, expires_at)
            SELECT renewed.worker_config_id, renewed.id, renewed.token, renewed.attempts, renewed.created_at, renewed.expires_at
            FROM renewed
          )
          SELECT instance.token, renewed.id IS NOT NULL AS is_renewed
          FROM {schema}.worker_instance AS instance
          JOIN mine ON mine.token = instance.token
          LEFT JOIN renewed ON renewed.id = instance.id
          """);

  /**
   * Gives instances back. One that fails stays, without a holder, until its rest is over: whoever
   * takes the worker then is to know how often it has failed.
   */
  static final Template RELEASE =
      Template.of(
          """
          -- release_workers
          WITH
          mine AS MATERIALIZED (
            SELECT mine.token, mine.attempts, mine.rest_us
            FROM unnest(:tokens::UUID[], :attempts::INT[], :rests_us::BIGINT[]) AS mine (token, attempts, rest_us)
          ),
          free AS MATERIALIZED (
            SELECT instance.id,
                   mine.attempts,
                   mine.rest_us,
                   mine.attempts > 0 AND worker.target_instances <> 0 AS is_kept
            FROM {schema}.worker_instance AS instance
            JOIN mine ON mine.token = instance.token
            JOIN {schema}.worker_config AS worker ON worker.id = instance.worker_config_id
            FOR UPDATE OF instance SKIP LOCKED
          ),
          kept AS (
            UPDATE {schema}.worker_instance AS instance
            SET token = gen_random_uuid(),
                attempts = free.attempts,
                expires_at = clock_timestamp() + free.rest_us * INTERVAL '1 microsecond'
            FROM free
            WHERE instance.id = free.id
              AND free.is_kept
          )
          DELETE FROM {schema}.worker_instance AS instance
          USING free
          WHERE instance.id = free.id
            AND NOT free.is_kept
          """);

  /** Removes the oldest rows of the log that are past their time. */
  static final Template SWEEP_LOG =
      Template.of(
          """
          -- sweep_worker_instance_log
          DELETE FROM {schema}.worker_instance_log AS log
          WHERE log.id = ANY (ARRAY(
            SELECT old.id
            FROM {schema}.worker_instance_log AS old
            WHERE old.expires_at < clock_timestamp() - :retention_us * INTERVAL '1 microsecond'
            ORDER BY old.expires_at
            LIMIT :most
            FOR UPDATE SKIP LOCKED))
          """);

  /**
   * Finds which of these instances are alive and keeps them so until the end of the transaction: a
   * renewal passes, a removal doesn't.
   */
  static final Template FENCE =
      Template.of(
          """
          -- fence_workers
          SELECT instance.worker_config_id
          FROM {schema}.worker_instance AS instance
          WHERE instance.token = ANY (:tokens)
            AND instance.expires_at > clock_timestamp()
          FOR KEY SHARE SKIP LOCKED
          """);

  private RosterSql() {}
}
