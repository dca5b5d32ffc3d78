package io.sqlstreams.internal.produce;

import io.sqlstreams.error.OutcomeUnknownException;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * The connection broke while the library's own commit was under way. Whoever catches it finds out
 * what became of it, or says that nobody knows.
 */
final class LostCommit extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient TargetLog log;
  private final transient @Nullable Evidence evidence;
  private final SQLException reason;

  /**
   * What was known before the commit was sent.
   *
   * @param transaction the transaction's id, as text
   * @param receipts those that the commit makes true
   */
  record Evidence(String transaction, Receipts receipts) {}

  LostCommit(TargetLog log, @Nullable Evidence evidence, SQLException reason) {
    super(reason);
    this.log = log;
    this.evidence = evidence;
    this.reason = reason;
  }

  TargetLog log() {
    return log;
  }

  @Nullable Evidence evidence() {
    return evidence;
  }

  SQLException reason() {
    return reason;
  }

  OutcomeUnknownException unknown() {
    return new OutcomeUnknownException(Refusals.what(log.stream().name()), reason);
  }
}
