package io.sqlstreams.cli;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import org.jspecify.annotations.Nullable;

/**
 * Values of users as one line each, whatever is in them: no control character reaches the terminal.
 */
final class Text {
  private static final String NONE = "-";

  private Text() {}

  /** This text with every control character, line breaks included, as a space. */
  static String oneLine(String text) {
    return isPlain(text) ? text : text.replaceAll("\\p{Cntrl}+", " ").strip();
  }

  /** The same for what may be absent. */
  static String orNone(@Nullable String text) {
    return text == null ? NONE : oneLine(text);
  }

  /**
   * A payload. JSON text stays as it is, except that line breaks and tabs between its tokens become
   * spaces; what isn't text is given in Base64.
   */
  static String payload(byte[] bytes) {
    try {
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
      String line = text.replace('\n', ' ').replace('\r', ' ').replace('\t', ' ');
      if (isPlain(line)) {
        return line;
      }
    } catch (CharacterCodingException e) {
      // as Base64, below
    }
    return "base64:" + Base64.getEncoder().encodeToString(bytes);
  }

  private static boolean isPlain(String text) {
    return text.chars().noneMatch(Character::isISOControl);
  }
}
