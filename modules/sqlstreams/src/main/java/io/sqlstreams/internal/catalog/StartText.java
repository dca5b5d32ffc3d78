package io.sqlstreams.internal.catalog;

import io.sqlstreams.config.Start;
import java.time.Instant;

/** A start as {@code consumer_group_config.start_position} keeps it: the text that it shows. */
final class StartText {
  private static final String AT = "at ";
  private static final String AFTER = "after ";

  private StartText() {}

  static Start parse(String text) {
    if (text.startsWith(AT)) {
      return Start.at(Instant.parse(text.substring(AT.length())));
    }
    if (text.startsWith(AFTER)) {
      return Start.after(Long.parseLong(text.substring(AFTER.length())));
    }
    return text.equals(Start.HEAD.toString()) ? Start.HEAD : Start.BEGINNING;
  }
}
