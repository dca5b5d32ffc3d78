package io.sqlstreams.bench.load;

import java.util.Locale;

/** How payloads are handed to the client. */
public enum PayloadForm {
  /** As an {@link Order} that Jackson writes and reads. */
  TYPED,
  /** As bytes that are ready. */
  RAW;

  @Override
  public String toString() {
    return name().toLowerCase(Locale.ROOT);
  }
}
