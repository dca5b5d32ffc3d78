package io.sqlstreams.internal.order;

/**
 * What statements have in common where the messages of a key follow each other.
 *
 * <p>A message waits as long as its key is held: by a message in an open range, or by one in the
 * exception queue. Which keys are held isn't written down anywhere else; it follows from the
 * leases. That is exact because every step that begins or ends a message which may have to wait for
 * others, or others for it, first locks the group's cursor row ({@link #LOCK}), by a command before
 * the one that looks: so its snapshot shows everything that the steps before it have done.
 */
public final class KeySql {
  /**
   * Before the step itself, in the same transaction. The table of the leases is locked first, as a
   * rewind does it, so that the two never wait for each other in turn.
   */
  public static final String LOCK =
      """
      LOCK /* lock_group_leases */ TABLE ONLY {schema}.claim_lease_{stream} IN ROW EXCLUSIVE MODE;
      SELECT /* lock_group */ cursor.claimed
      FROM {schema}.consumer_group_cursor_{stream} AS cursor
      WHERE cursor.consumer_group_id = :group
      FOR UPDATE;
      """;

  /**
   * {@link #LOCK}, but only if the log has news: a look at a group that has caught up locks
   * nothing.
   */
  public static final String LOCK_FOR_NEWS =
      """
      LOCK /* lock_group_leases */ TABLE ONLY {schema}.claim_lease_{stream} IN ROW EXCLUSIVE MODE;
      SELECT /* lock_group */ cursor.claimed
      FROM {schema}.consumer_group_cursor_{stream} AS cursor
      WHERE cursor.consumer_group_id = :group
        AND (SELECT log.id
             FROM {schema}.message_log_{stream} AS log
             WHERE log.id > cursor.claimed
             ORDER BY log.id
             LIMIT 1) IS NOT NULL
      FOR UPDATE;
      """;

  /**
   * What holds for the row {@code log}. What is written in its options by hand and makes no sense
   * asks for nothing. A compacted message may go because of a later one, so nothing can wait for
   * its turn.
   */
  public static final String CONCURRENCY =
      """
      CASE
        WHEN log.message_key IS NULL THEN 'parallel'
        ELSE (
          SELECT CASE WHEN wanted.concurrency = 'ordered' AND log.compaction_rank IS NOT NULL THEN 'exclusive' ELSE wanted.concurrency END
          FROM (
            SELECT coalesce(
              :concurrency_override::TEXT,
              CASE WHEN log.options ->> 'concurrency' IN ('parallel', 'exclusive', 'ordered') THEN log.options ->> 'concurrency' END,
              :concurrency::TEXT) AS concurrency
          ) AS wanted
        )
      END
      """;

  /**
   * Beside each row of {@code candidate (message_id, message_key, concurrency, forgiven)}: the
   * first message of its key in each state of the exception queue, and whether an open range holds
   * one. The comparison of rows makes the walk begin at the key's place in the one index that has
   * this order; with an equality the order would be that of other indexes too, and a plan made for
   * empty tables might take one of those.
   */
  private static final String HOLDERS =
      """
      {ready}
      {inflight}
      {deferred}
      CROSS JOIN LATERAL (
        SELECT min(first.id) AS first_id
        FROM {schema}.claim_lease_{stream} AS lease
        CROSS JOIN LATERAL (
          SELECT log.id
          FROM {schema}.message_log_{stream} AS log
          WHERE (log.message_key, log.id) > (candidate.message_key, lease.low)
            AND (log.message_key, log.id) <= (candidate.message_key, lease.high)
            AND log.message_key IS NOT NULL
            -- the partitions below aren't looked at
            AND log.id > lease.low
            AND (lease.included IS NULL OR log.id = ANY (lease.included))
            AND (lease.excluded IS NULL OR log.id <> ALL (lease.excluded))
          ORDER BY log.message_key, log.id
          LIMIT 1
        ) AS first
        WHERE lease.consumer_group_id = :group
          AND lease.low >= (SELECT cursor.committed FROM {schema}.consumer_group_cursor_{stream} AS cursor WHERE cursor.consumer_group_id = :group)
          AND lease.token <> ALL ({own})
          -- what a dead process has left begins no more, but it keeps its place in an order
          AND (candidate.concurrency = 'ordered' OR lease.expires_at > now())
      ) AS open
      """;

  /** The first message of the candidate's key that is in one state. */
  private static final String FIRST =
      """
      SELECT first.message_id, first.can_run_after
      FROM {schema}.exception_queue_{stream} AS first
      WHERE first.consumer_group_id = :group
        AND (first.message_key, first.message_id) > ({candidate}.message_key, 0)
        AND first.message_key <= {candidate}.message_key
        AND first.message_key IS NOT NULL
        AND first.status = '{status}'
      ORDER BY first.message_key, first.message_id
      LIMIT 1
      """;

  /** See {@link #deferring}. */
  private static final String DEFERRING =
      """
      deferred AS (
            INSERT INTO {schema}.exception_queue_{stream}
              (consumer_group_id, message_id, status, message_key, concurrency, attempts, can_run_after)
            SELECT :group, waiting.id, 'deferred', waiting.message_key, waiting.concurrency, 0, now()
            FROM busy
            JOIN {rows} AS waiting USING (id)
            ON CONFLICT (consumer_group_id, message_id) DO NOTHING
          ),
          logged AS (
            INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status)
            SELECT :group, busy.id, 0, 'deferred'
            FROM busy
            WHERE :logs_deferred
            ORDER BY busy.id
          ),
      """;

  /** Whether a candidate has to wait, by its {@link #holders}. */
  public static final String BUSY =
      """
      (
        CASE
          WHEN open.first_id IS NULL THEN false
          WHEN candidate.concurrency <> 'ordered' THEN true
          -- one that was dead has been passed by later ones, which may run
          ELSE open.first_id < candidate.message_id OR candidate.forgiven > 0
        END
        OR inflight.message_id IS NOT NULL
        -- nor does it go before those that were there first
        OR coalesce(deferred.message_id < candidate.message_id, false)
        OR coalesce(ready.message_id < candidate.message_id AND (candidate.concurrency = 'ordered' OR ready.can_run_after <= now()), false)
      )
      """;

  /**
   * Announces the turn of the message that waits in front, in each of {@code :freed_keys}. If it
   * has to wait for another one still, the claim sees that.
   */
  public static final String WAKE =
      """
      UPDATE {schema}.exception_queue_{stream} AS exception
      SET status = 'ready',
          can_run_after = now(),
          updated_at = clock_timestamp()
      WHERE exception.consumer_group_id = :group
        AND exception.status = 'deferred'
        AND exception.message_id = ANY (ARRAY(
          SELECT front.message_id
          FROM unnest(:freed_keys::TEXT[]) AS freed (message_key)
          CROSS JOIN LATERAL (
            SELECT waiting.message_id
            FROM {schema}.exception_queue_{stream} AS waiting
            WHERE waiting.consumer_group_id = :group
              -- one index has this order
              AND (waiting.message_key, waiting.message_id) > (freed.message_key, 0)
              AND waiting.message_key <= freed.message_key
              AND waiting.message_key IS NOT NULL
              AND waiting.status = 'deferred'
            ORDER BY waiting.message_key, waiting.message_id
            LIMIT 1
          ) AS front))
      """;

  private KeySql() {}

  /**
   * See {@code HOLDERS}.
   *
   * @param own the tokens of leases that hold nothing up, as an array
   */
  public static String holders(String own) {
    return HOLDERS
        .replace("{own}", own)
        .replace("{ready}", beside("ready"))
        .replace("{inflight}", beside("inflight"))
        .replace("{deferred}", beside("deferred"));
  }

  private static String beside(String status) {
    return "LEFT JOIN LATERAL (\n" + first("candidate", status) + ") AS " + status + " ON true";
  }

  /**
   * The first message of a key that is in one state: its id and when it can run.
   *
   * @param candidate a row with the key
   */
  public static String first(String candidate, String status) {
    return FIRST.replace("{candidate}", candidate).replace("{status}", status);
  }

  /**
   * What becomes of the messages whose ids are in {@code busy}.
   *
   * @param rows where the messages themselves are
   */
  public static String deferring(String rows) {
    return DEFERRING.replace("{rows}", rows);
  }
}
