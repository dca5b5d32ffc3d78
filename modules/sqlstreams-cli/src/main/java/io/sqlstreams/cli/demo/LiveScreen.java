package io.sqlstreams.cli.demo;

import io.sqlstreams.cli.TextTable;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;

/** For a terminal: events scroll by above a table that is redrawn in place. */
final class LiveScreen implements Screen {
  private static final String CLEAR_LINE = "\u001b[2K";
  private static final String UP = "\u001b[1A";

  private final PrintWriter out;
  private List<String> table = List.of();

  LiveScreen(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void event(Duration at, String text) {
    redraw(() -> out.println(Screen.time(at) + text));
  }

  @Override
  public void progress(Duration at, List<GroupProgress> groups) {
    redraw(
        () ->
            table =
                TextTable.lines(
                    GroupProgress.HEADINGS, groups.stream().map(GroupProgress::cells).toList()));
  }

  /**
   * Takes the table off, does this, and puts the table back: in one write, so that nothing
   * flickers.
   */
  private void redraw(Runnable change) {
    out.print((UP + CLEAR_LINE).repeat(table.isEmpty() ? 0 : table.size() + 1));
    change.run();
    if (!table.isEmpty()) {
      out.println();
      table.forEach(out::println);
    }
    out.flush();
  }
}
