package io.sqlstreams.internal.upkeep;

import java.util.Set;

/**
 * The proof that no message comes any more with an id up to some point. Every transaction that
 * draws an id holds a lock on the log before it does and until its end; so once those that held it
 * are gone, every id that was drawn before they were listed is there or never comes. What was seen
 * of a server counts for as long as that server runs: one that starts again may have lost ids that
 * were drawn. Not thread-safe.
 */
final class Settlement {
  private String server = "";
  private long through;
  private long pending;
  private Set<String> writers = Set.of();

  /**
   * Takes in a look at the writers.
   *
   * @param server which server, since when it runs
   * @param drawn an id that had been drawn before the look
   * @param open who writes to the log
   */
  void looked(String server, long drawn, Set<String> open) {
    if (!server.equals(this.server)) {
      this.server = server;
      through = 0;
      pending = 0;
    }
    boolean earlierWrite =
        open.stream().anyMatch(one -> writers.contains(one) || one.startsWith(PREPARED));
    if (pending > through && !earlierWrite) {
      through = pending;
    }
    if (open.isEmpty()) {
      through = Math.max(through, drawn);
    }
    if (pending <= through) {
      pending = drawn;
      writers = open;
    }
  }

  /**
   * After a restart of the server a transaction that was prepared before has another name than when
   * it was listed, one that begins with this.
   */
  private static final String PREPARED = "-1/";

  /** Whether the ids up to this one are settled, by what the last look showed. */
  boolean isSettled(long id) {
    return id <= through;
  }

  /** The server that it was shown by. */
  String server() {
    return server;
  }
}
