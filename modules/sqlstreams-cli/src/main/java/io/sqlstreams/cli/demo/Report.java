package io.sqlstreams.cli.demo;

import io.sqlstreams.cli.TextTable;
import java.io.PrintWriter;
import java.util.List;
import java.util.function.ToLongFunction;

/** What the demo says at its end. */
final class Report {
  private static final List<String> HEADINGS =
      List.of("group", "produced", "handled", "lost", "duplicates");

  private final PrintWriter out;

  Report(PrintWriter out) {
    this.out = out;
  }

  /** The verdict, from the ids that were acknowledged and those that the workers wrote down. */
  void verdict(List<Comparison> comparisons, boolean killed) {
    out.println();
    TextTable.lines(HEADINGS, comparisons.stream().map(Report::cells).toList())
        .forEach(out::println);
    out.println();
    out.println("lost " + sum(comparisons, Comparison::lost));
    long duplicates = sum(comparisons, Comparison::duplicates);
    String why =
        killed && duplicates > 0
            ? ": delivery is at least once; these were handled by the killed worker and not yet recorded"
            : "";
    out.println("duplicates " + duplicates + why);
    long unknown = sum(comparisons, Comparison::unknown);
    if (unknown > 0) {
      out.println("unknown " + unknown + ": handled, and never acknowledged to a producer");
    }
    if (!killed) {
      out.println("no worker was killed: it was over too soon, so try more --messages");
    }
    out.flush();
  }

  /** How to look inside. */
  void inside(boolean kept, DemoServer server, String schema, long stream) {
    out.println();
    if (kept) {
      out.println("The database is up until Ctrl-C, which removes it:");
      out.println("  " + server.jdbcUrl());
      out.println("  psql " + server.psqlUrl());
    } else {
      out.println(
          "The database is gone now; 'sqlstreams demo --keep' leaves it up, to look inside:");
    }
    for (UsefulSql.Statement statement : UsefulSql.of(schema, stream)) {
      out.println();
      out.println("  -- " + statement.question());
      out.println("  " + statement.sql());
    }
    out.flush();
  }

  private static List<String> cells(Comparison comparison) {
    return List.of(
        comparison.group(),
        GroupProgress.number(comparison.produced()),
        GroupProgress.number(comparison.handled()),
        GroupProgress.number(comparison.lost()),
        GroupProgress.number(comparison.duplicates()));
  }

  private static long sum(List<Comparison> comparisons, ToLongFunction<Comparison> field) {
    return comparisons.stream().mapToLong(field).sum();
  }
}
