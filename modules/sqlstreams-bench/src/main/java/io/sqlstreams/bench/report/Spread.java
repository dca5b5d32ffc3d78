package io.sqlstreams.bench.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A figure over several rounds.
 *
 * @param median the middle one; between two middle ones, their mean
 * @param min the smallest
 * @param max the largest
 */
public record Spread(double median, double min, double max) {
  /** Of at least one value. */
  public static Spread of(List<Double> values) {
    double[] sorted = values.stream().mapToDouble(Double::doubleValue).sorted().toArray();
    if (sorted.length == 0) {
      throw new IllegalArgumentException("no values");
    }
    int middle = sorted.length / 2;
    double median =
        sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
    return new Spread(median, sorted[0], sorted[sorted.length - 1]);
  }

  /** Of values that may be unknown; null when one of them is. */
  public static @Nullable Spread ofKnown(List<@Nullable Double> values) {
    List<Double> known = new ArrayList<>();
    values.stream().filter(Objects::nonNull).forEach(known::add);
    return known.size() < values.size() || known.isEmpty() ? null : of(known);
  }

  /**
   * The quotients, place by place. What two figures of the same round have in common, as a slow
   * moment of the machine, cancels out.
   */
  public static List<Double> ratios(List<Double> values, List<Double> bases) {
    if (values.size() != bases.size()) {
      throw new IllegalArgumentException(
          values.size() + " values can't be compared with " + bases.size());
    }
    Double[] ratios = new Double[values.size()];
    Arrays.setAll(ratios, i -> values.get(i) / bases.get(i));
    return List.of(ratios);
  }
}
