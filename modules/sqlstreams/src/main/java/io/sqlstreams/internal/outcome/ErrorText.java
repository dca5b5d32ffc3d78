package io.sqlstreams.internal.outcome;

import java.nio.charset.StandardCharsets;

/** Errors as they are stored: one readable text whatever a handler threw, clean and short. */
public final class ErrorText {
  /** The longest stored error in bytes of UTF-8: 8 KiB. */
  public static final int MAX_BYTES = 8 << 10;

  private static final int MAX_CAUSES = 5;

  private ErrorText() {}

  /**
   * The kind and message of an error and of its causes. An error whose own methods throw is named
   * by its kind alone.
   */
  public static String of(Throwable error) {
    StringBuilder text = new StringBuilder();
    for (Throwable cause : Causes.of(error).stream().limit(MAX_CAUSES).toList()) {
      text.append(text.isEmpty() ? "" : ", caused by ").append(describe(cause));
    }
    return clean(text.toString());
  }

  /** The text without what PostgreSQL can't store, cut to {@link #MAX_BYTES}. */
  public static String clean(String text) {
    StringBuilder clean = new StringBuilder();
    int bytes = 0;
    for (int at = 0; at < text.length(); ) {
      int c = text.codePointAt(at);
      at += Character.charCount(c);
      boolean storable = c != 0 && !(c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE);
      int kept = storable ? c : '\uFFFD';
      bytes += utf8Length(kept);
      if (bytes > MAX_BYTES) {
        break;
      }
      clean.appendCodePoint(kept);
    }
    return clean.toString();
  }

  private static int utf8Length(int codePoint) {
    return codePoint < 0x80
        ? 1
        : new String(Character.toChars(codePoint)).getBytes(StandardCharsets.UTF_8).length;
  }

  private static String describe(Throwable error) {
    String kind = error.getClass().getName();
    try {
      String message = error.getMessage();
      return message == null ? kind : kind + ": " + message;
    } catch (Throwable e) {
      return kind;
    }
  }
}
