package io.sqlstreams.cli.demo;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** For output that isn't a terminal: a line every two seconds. */
final class PlainScreen implements Screen {
  private static final Duration INTERVAL = Duration.ofSeconds(2);

  private final PrintWriter out;
  private @Nullable Duration last;

  PlainScreen(PrintWriter out) {
    this.out = out;
  }

  @Override
  public void event(Duration at, String text) {
    out.println(Screen.time(at) + text);
    out.flush();
  }

  @Override
  public void progress(Duration at, List<GroupProgress> groups) {
    if (last == null || at.minus(last).compareTo(INTERVAL) >= 0) {
      last = at;
      String produced = "produced " + GroupProgress.number(groups.get(0).produced());
      event(
          at,
          produced
              + " | "
              + groups.stream().map(GroupProgress::sentence).collect(Collectors.joining(" | ")));
    }
  }
}
