package io.sqlstreams.internal.outcome;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** An error and what caused it, whatever its own methods do. */
public final class Causes {
  /** A chain may be a circle. */
  private static final int MOST = 20;

  private Causes() {}

  /** The error, its cause, the cause of that, and so on. */
  public static List<Throwable> of(Throwable error) {
    List<Throwable> chain = new ArrayList<>();
    @Nullable Throwable next = error;
    while (next != null && chain.size() < MOST) {
      chain.add(next);
      next = causeOf(next);
    }
    return chain;
  }

  private static @Nullable Throwable causeOf(Throwable error) {
    try {
      return error.getCause();
    } catch (Throwable e) {
      return null;
    }
  }
}
