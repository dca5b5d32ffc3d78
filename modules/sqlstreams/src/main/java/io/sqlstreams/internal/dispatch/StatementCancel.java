package io.sqlstreams.internal.dispatch;

import io.sqlstreams.internal.sql.OpenTransaction;

/**
 * The request to stop what a handler waits for. It is the server that says which statement that is:
 * whatever runs when the request arrives. So it has arrived, or is never sent, before the
 * connection is used for anything else. Thread-safe.
 */
final class StatementCancel {
  private final OpenTransaction transaction;
  private boolean over;

  StatementCancel(OpenTransaction transaction) {
    this.transaction = transaction;
  }

  /** Sends it, unless the handler has returned. May block. */
  synchronized void send() {
    if (!over) {
      transaction.cancel();
    }
  }

  /** The handler has returned. Waits for a request that is under way. */
  synchronized void end() {
    over = true;
  }
}
