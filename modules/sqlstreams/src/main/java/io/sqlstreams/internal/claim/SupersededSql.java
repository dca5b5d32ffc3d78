package io.sqlstreams.internal.claim;

/** What the claims have in common about compacted messages that aren't needed any more. */
final class SupersededSql {
  /**
   * The id of the message that has taken the place of a {@code message}; null when nothing has. It
   * is its key's head, as the statement's snapshot shows it. The head's message is in the log by
   * the same snapshot, so a group that hasn't come to it will: nothing is stepped over for a
   * message that the group never gets.
   *
   * <p>A look-up for each message, by key: a join could become a scan of all heads.
   */
  static final String WINNER =
      """
      (SELECT head.message_id
       FROM {schema}.compaction_head_{stream} AS head
       WHERE head.compaction_key = message.message_key
         AND message.compaction_rank IS NOT NULL
         AND (head.schema_version, head.compaction_rank, head.message_id) > (message.schema_version, message.compaction_rank, message.id)
         -- a head that the group doesn't read takes nobody's place
         AND EXISTS (
           SELECT
           FROM filter
           WHERE (filter.schema_versions IS NULL OR head.schema_version = ANY (filter.schema_versions))
             AND (NOT filter.is_bound
                  OR EXISTS (
                    SELECT
                    FROM (
                      SELECT log.id, log.schema_version, log.routing_key, log.headers
                      FROM {schema}.message_log_{stream} AS log
                      -- not by equality: that could become a scan of the partition in a plan that was made while it was empty
                      WHERE log.id >= head.message_id
                      ORDER BY log.id
                      LIMIT 1
                    ) AS log
                    WHERE log.id = head.message_id
                      AND {matches}))))
      """;

  /** The event of a message that is stepped over, for groups that keep a delivery log. */
  static final String RECORDED =
      """
      recorded AS (
        INSERT INTO {schema}.delivery_log_{stream} (consumer_group_id, message_id, attempt, status, error)
        SELECT :group, superseded.id, 0, 'superseded', 'message ' || superseded.winner || ' has taken its place'
        FROM superseded
        WHERE :logs
        ORDER BY superseded.id
      ),
      """;

  private SupersededSql() {}

  /** The same in Java, for messages of the exception queue. */
  static String reason(long winner) {
    return "message " + winner + " has taken its place";
  }
}
