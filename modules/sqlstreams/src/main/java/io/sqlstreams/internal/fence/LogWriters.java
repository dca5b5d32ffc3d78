package io.sqlstreams.internal.fence;

/** The open transactions that may still bring messages with ids which they drew earlier. */
public final class LogWriters {
  /**
   * The part {@code {log_writers}} of a statement, with the parameter {@code :message_log}: the
   * {@code virtualtransaction} of each and its {@code pid}, which is null when it is prepared. The
   * statement's own backend isn't among them.
   */
  public static final String PART =
      """
            SELECT DISTINCT held.virtualtransaction, held.pid
            FROM pg_catalog.pg_locks AS held
            WHERE held.locktype = 'relation'
              AND held.database = (SELECT db.oid FROM pg_catalog.pg_database AS db WHERE db.datname = current_database())
              AND held.relation = pg_catalog.to_regclass(:message_log)
              AND held.mode = 'RowExclusiveLock'
              AND held.granted
              -- the pid of a prepared transaction is null
              AND held.pid IS DISTINCT FROM pg_backend_pid()
      """;

  private LogWriters() {}
}
