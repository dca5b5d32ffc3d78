package io.sqlstreams.cli.demo;

/**
 * What became of the produced messages in one group.
 *
 * @param group the group's name
 * @param produced how many messages were acknowledged to the producers
 * @param handled how many different ids its workers wrote down
 * @param lost ids that were acknowledged and never handled
 * @param unknown ids that were handled and never acknowledged
 * @param duplicates deliveries of an id that had been handled before
 */
record Comparison(
    String group, long produced, long handled, long lost, long unknown, long duplicates) {

  static Comparison of(String group, Tally produced, Tally handled) {
    return new Comparison(
        group,
        produced.distinct(),
        handled.distinct(),
        produced.missingFrom(handled),
        handled.missingFrom(produced),
        handled.repeats());
  }

  /**
   * Whether every message reached the group, and no others did. Duplicates are allowed: at least
   * once.
   */
  boolean complete() {
    return lost == 0 && unknown == 0;
  }
}
