package io.sqlstreams.bench.report;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * Rows of text whose columns line up: the first to the left, the others to the right. Not
 * thread-safe.
 */
final class Table {
  private static final String GAP = "  ";

  private final List<List<String>> rows = new ArrayList<>();

  /** One more row, as long as the others. */
  Table row(String... cells) {
    rows.add(List.of(cells));
    return this;
  }

  /** A line for each row. */
  String text() {
    List<Integer> widths = new ArrayList<>(Collections.nCopies(rows.get(0).size(), 0));
    for (List<String> row : rows) {
      for (int i = 0; i < row.size(); i++) {
        widths.set(i, Math.max(widths.get(i), row.get(i).length()));
      }
    }
    StringBuilder text = new StringBuilder();
    for (List<String> row : rows) {
      StringBuilder line = new StringBuilder();
      for (int i = 0; i < row.size(); i++) {
        String blanks = " ".repeat(widths.get(i) - row.get(i).length());
        line.append(i == 0 ? row.get(i) + blanks : GAP + blanks + row.get(i));
      }
      text.append(line.toString().stripTrailing()).append('\n');
    }
    return text.toString();
  }
}
