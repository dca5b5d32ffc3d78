package io.sqlstreams.bench.scenario;

/** What goes on beside producing and consuming. */
enum Phase {
  /** Nothing. */
  CALM("calm"),
  /** A partition is made, taken off or dropped. */
  UPKEEP("upkeep"),
  /** A transaction that has read the log is left open. */
  READER("reader");

  private final String label;

  Phase(String label) {
    this.label = label;
  }

  String label() {
    return label;
  }
}
