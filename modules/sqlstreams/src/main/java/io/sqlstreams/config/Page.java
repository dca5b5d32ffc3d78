package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;

/**
 * One page of a list that is ordered by message id: so many, above an id. Rows that come or go
 * between two pages neither repeat nor hide others. Immutable.
 *
 * @param limit how many at most, 1 to {@value #MAX_LIMIT}
 * @param afterId the page begins above this message id, 0 or above
 */
public record Page(int limit, long afterId) {
  /** The longest page. */
  public static final int MAX_LIMIT = 10_000;

  /**
   * @throws InvalidInputException when a value is outside its range
   */
  public Page {
    Numbers.requireBetween("limit", limit, 1, MAX_LIMIT);
    Numbers.requireNotNegative("afterId", afterId);
  }

  /**
   * The first page.
   *
   * @param limit how many at most, 1 to {@value #MAX_LIMIT}
   * @throws InvalidInputException when the limit is outside its range
   */
  public static Page first(int limit) {
    return new Page(limit, 0);
  }

  /**
   * A page of the same length that begins above this message: the last one of the page before.
   *
   * @param messageId its id, 0 or above
   * @throws InvalidInputException when it is negative
   */
  public Page after(long messageId) {
    return new Page(limit, messageId);
  }
}
