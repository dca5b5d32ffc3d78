package io.sqlstreams.bench.load;

import java.math.BigDecimal;
import java.util.List;

/**
 * The typed payload: an event of common shape.
 *
 * @param note text that fills the payload up to its size
 */
public record Order(
    String orderId,
    String customer,
    BigDecimal total,
    boolean paid,
    List<Line> lines,
    String note) {
  /** One position of the order. */
  public record Line(String sku, int quantity, BigDecimal price) {}
}
