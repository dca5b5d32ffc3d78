package io.sqlstreams.bench.meter;

/**
 * How often the server ran a statement, and how long.
 *
 * @param calls how often
 * @param milliseconds how long, all calls together, by the server's own account
 */
public record StatementUse(long calls, double milliseconds) {
  StatementUse minus(StatementUse earlier) {
    return new StatementUse(calls - earlier.calls, milliseconds - earlier.milliseconds);
  }

  /** Both together. */
  public StatementUse plus(StatementUse other) {
    return new StatementUse(calls + other.calls, milliseconds + other.milliseconds);
  }
}
