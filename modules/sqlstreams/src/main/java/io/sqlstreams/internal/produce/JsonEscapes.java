package io.sqlstreams.internal.produce;

/**
 * The escapes {@code \}{@code u....} in JSON text that jsonb can't hold: U+0000 and lone
 * surrogates. Whether the text is JSON at all is the server's to say, so what isn't an escape is
 * stepped over here.
 */
final class JsonEscapes {
  private static final int NOT_AN_ESCAPE = -1;
  private static final int ESCAPE_LENGTH = 6;

  private JsonEscapes() {}

  /** Whether the text holds the escape of U+0000 or of a surrogate without its partner. */
  static boolean hasNoCharacter(byte[] json) {
    int at = 0;
    while (at < json.length) {
      if (json[at] != '\\') {
        at++;
        continue;
      }
      int unit = unit(json, at);
      if (unit == NOT_AN_ESCAPE) {
        at += 2; // one of the short ones, such as a quote or the backslash itself
        continue;
      }
      at += ESCAPE_LENGTH;
      if (unit == 0 || Character.isLowSurrogate((char) unit)) {
        return true;
      }
      if (Character.isHighSurrogate((char) unit)) {
        int next = unit(json, at);
        if (next == NOT_AN_ESCAPE || !Character.isLowSurrogate((char) next)) {
          return true;
        }
        at += ESCAPE_LENGTH;
      }
    }
    return false;
  }

  /** The UTF-16 unit whose escape begins here. */
  private static int unit(byte[] json, int at) {
    if (at + ESCAPE_LENGTH > json.length || json[at] != '\\' || json[at + 1] != 'u') {
      return NOT_AN_ESCAPE;
    }
    int unit = 0;
    for (int i = at + 2; i < at + ESCAPE_LENGTH; i++) {
      int digit = json[i] < 0 ? -1 : Character.digit((char) json[i], 16);
      if (digit < 0) {
        return NOT_AN_ESCAPE;
      }
      unit = unit * 16 + digit;
    }
    return unit;
  }
}
