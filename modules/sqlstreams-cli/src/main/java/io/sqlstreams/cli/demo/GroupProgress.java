package io.sqlstreams.cli.demo;

import java.util.List;
import java.util.Locale;

/**
 * How far one group is.
 *
 * @param group its name
 * @param produced messages that the stream holds
 * @param handled different messages that the group has handled
 * @param inFlight handlers that run
 * @param retries failed deliveries that are or were tried again
 * @param workers processes that are alive
 */
record GroupProgress(
    String group, long produced, long handled, long inFlight, long retries, int workers) {
  static final List<String> HEADINGS =
      List.of("group", "produced", "handled", "in flight", "retries", "lag", "workers");

  /**
   * Messages that the group has yet to handle. A message can be handled before its producer knows
   * that it is stored.
   */
  long lag() {
    return Math.max(0, produced - handled);
  }

  List<String> cells() {
    return List.of(
        group,
        number(produced),
        number(handled),
        number(inFlight),
        number(retries),
        number(lag()),
        number(workers));
  }

  String sentence() {
    return group
        + ": handled "
        + number(handled)
        + ", in flight "
        + number(inFlight)
        + ", retries "
        + number(retries)
        + ", lag "
        + number(lag());
  }

  static String number(long value) {
    return String.format(Locale.ROOT, "%,d", value);
  }
}
