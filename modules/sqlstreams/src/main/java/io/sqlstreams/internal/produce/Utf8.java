package io.sqlstreams.internal.produce;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;

/** What PostgreSQL takes as text: UTF-8 without U+0000 and without surrogates. */
final class Utf8 {
  /** Returned by {@link #length}. */
  static final int HAS_NUL = -1;

  /** Returned by {@link #length}. */
  static final int HAS_LONE_SURROGATE = -2;

  private static final VarHandle EIGHT_BYTES =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.nativeOrder());
  private static final long HIGH_BITS = 0x8080808080808080L;
  private static final long LOW_BITS = 0x0101010101010101L;

  private Utf8() {}

  /**
   * How many bytes of UTF-8 this text takes; below 0, a constant of this class, when it isn't text
   * to PostgreSQL.
   */
  static int length(String text) {
    int bytes = 0;
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == 0) {
        return HAS_NUL;
      } else if (c < 0x80) {
        bytes += 1;
      } else if (c < 0x800) {
        bytes += 2;
      } else if (!Character.isSurrogate(c)) {
        bytes += 3;
      } else if (Character.isHighSurrogate(c)
          && i + 1 < text.length()
          && Character.isLowSurrogate(text.charAt(i + 1))) {
        bytes += 4;
        i++;
      } else {
        return HAS_LONE_SURROGATE;
      }
    }
    return bytes;
  }

  /** The index of the first byte that isn't part of such text; -1 when all are. */
  static int firstInvalid(byte[] bytes) {
    int at = 0;
    while (at < bytes.length) {
      at = afterAscii(bytes, at);
      if (at == bytes.length) {
        break;
      }
      int length = sequenceLength(bytes, at);
      if (length == 0) {
        return at;
      }
      at += length;
    }
    return -1;
  }

  /**
   * The index of the first byte from here on that is 0 or isn't ASCII; the array's length when
   * there is none.
   */
  private static int afterAscii(byte[] bytes, int from) {
    int at = from;
    for (; at + Long.BYTES <= bytes.length; at += Long.BYTES) {
      long eight = (long) EIGHT_BYTES.get(bytes, at);
      // a byte's high bit is left by this where the byte is 0, is above 127, or borrowed from one
      // that is 0
      if (((eight | (eight - LOW_BITS)) & HIGH_BITS) != 0) {
        break;
      }
    }
    while (at < bytes.length && bytes[at] > 0) {
      at++;
    }
    return at;
  }

  /**
   * The length of the sequence that begins here; 0 when none does (table 3-7 of the Unicode
   * standard).
   */
  private static int sequenceLength(byte[] bytes, int at) {
    int first = bytes[at] & 0xff;
    if (first >= 0xc2 && first <= 0xdf) {
      return continues(bytes, at + 1, 0x80, 0xbf) ? 2 : 0;
    }
    if (first >= 0xe0 && first <= 0xef) {
      int low = first == 0xe0 ? 0xa0 : 0x80; // below: longer than needed
      int high = first == 0xed ? 0x9f : 0xbf; // above: surrogates
      return continues(bytes, at + 1, low, high) && continues(bytes, at + 2, 0x80, 0xbf) ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
      int low = first == 0xf0 ? 0x90 : 0x80; // below: longer than needed
      int high = first == 0xf4 ? 0x8f : 0xbf; // above: beyond U+10FFFF
      return continues(bytes, at + 1, low, high)
              && continues(bytes, at + 2, 0x80, 0xbf)
              && continues(bytes, at + 3, 0x80, 0xbf)
          ? 4
          : 0;
    }
    return 0;
  }

  private static boolean continues(byte[] bytes, int at, int low, int high) {
    return at < bytes.length && (bytes[at] & 0xff) >= low && (bytes[at] & 0xff) <= high;
  }
}
