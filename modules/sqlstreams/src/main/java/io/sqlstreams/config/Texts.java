package io.sqlstreams.config;

import io.sqlstreams.error.InvalidInputException;

/** What PostgreSQL takes as text: UTF-8 without U+0000 and without halves of surrogate pairs. */
final class Texts {
  private Texts() {}

  /**
   * How many bytes of UTF-8 this text takes.
   *
   * @param what which part of the field it is, for the message
   * @throws InvalidInputException when it isn't text to PostgreSQL
   */
  static int bytes(String field, String what, String text) {
    int bytes = 0;
    for (int i = 0; i < text.length(); ) {
      int c = text.codePointAt(i);
      if (c == 0) {
        throw new InvalidInputException(
            field, what + " holds U+0000, which PostgreSQL's text can't: remove it");
      }
      if (c >= Character.MIN_SURROGATE && c <= Character.MAX_SURROGATE) {
        throw new InvalidInputException(
            field,
            what + " holds half of a surrogate pair, which is no character: repair the text");
      }
      bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
      i += Character.charCount(c);
    }
    return bytes;
  }
}
