package io.sqlstreams.cli.demo;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.Locale;

/** Where the demo tells how it goes. For one thread. */
interface Screen {
  /** A screen that redraws its table in place, or one that only adds lines. */
  static Screen of(PrintWriter out, boolean redraw) {
    return redraw ? new LiveScreen(out) : new PlainScreen(out);
  }

  /** Something that happened; it stays. */
  void event(Duration at, String text);

  /** How far the groups are now. */
  void progress(Duration at, List<GroupProgress> groups);

  /** Seconds since the beginning, in a column. */
  static String time(Duration at) {
    return String.format(Locale.ROOT, "%5.1f s   ", at.toMillis() / 1000.0);
  }
}
