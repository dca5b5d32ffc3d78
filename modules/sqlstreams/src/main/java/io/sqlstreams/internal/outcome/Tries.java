package io.sqlstreams.internal.outcome;

/**
 * How often a message was tried.
 *
 * @param attempt the number of the attempt that runs or comes next, 0 for the first
 * @param delays how many of those before asked for a delay, since the last redrive
 * @param forgiven how many of those before were before the last redrive, and count no more
 */
public record Tries(int attempt, int delays, int forgiven) {
  /** Never so far. */
  public static final Tries NONE = new Tries(0, 0, 0);

  /** How many failures there are once this attempt fails. */
  int failuresWithThis() {
    return attempt + 1 - forgiven - delays;
  }
}
