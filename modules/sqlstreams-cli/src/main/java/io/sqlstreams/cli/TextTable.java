package io.sqlstreams.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Rows under headings, in columns as wide as what is in them; numbers to the right. */
public final class TextTable {
  private static final String GAP = "   ";
  private static final Pattern NUMBER = Pattern.compile("[\\d,]+");

  private TextTable() {}

  /**
   * Sets a table.
   *
   * @param headings one for each column
   * @param rows as many cells each
   * @return the lines, without trailing space
   */
  public static List<String> lines(List<String> headings, List<List<String>> rows) {
    List<List<String>> all = new ArrayList<>();
    all.add(headings);
    all.addAll(rows);
    int[] widths = new int[headings.size()];
    boolean[] right = new boolean[headings.size()];
    for (int column = 0; column < widths.length; column++) {
      int at = column;
      widths[at] = all.stream().mapToInt(row -> row.get(at).length()).max().orElse(0);
      right[at] =
          !rows.isEmpty() && rows.stream().allMatch(row -> NUMBER.matcher(row.get(at)).matches());
    }
    return all.stream().map(row -> line(row, widths, right)).toList();
  }

  private static String line(List<String> row, int[] widths, boolean[] right) {
    StringBuilder line = new StringBuilder();
    for (int column = 0; column < row.size(); column++) {
      String cell = row.get(column);
      String padding = " ".repeat(widths[column] - cell.length());
      line.append(column == 0 ? "" : GAP).append(right[column] ? padding + cell : cell + padding);
    }
    return line.toString().stripTrailing();
  }
}
