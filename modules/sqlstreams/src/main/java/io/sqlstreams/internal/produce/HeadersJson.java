package io.sqlstreams.internal.produce;

import java.util.Map;

/** Headers as the text of a JSON object. */
final class HeadersJson {
  private HeadersJson() {}

  static String of(Map<String, String> headers) {
    StringBuilder json = new StringBuilder(64).append('{');
    headers.forEach(
        (name, value) -> {
          if (json.length() > 1) {
            json.append(',');
          }
          quote(json, name);
          json.append(':');
          quote(json, value);
        });
    return json.append('}').toString();
  }

  private static void quote(StringBuilder json, String text) {
    json.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < 0x20) {
        json.append("\\u00")
            .append(Character.forDigit(c >> 4, 16))
            .append(Character.forDigit(c & 15, 16));
      } else {
        json.append(c);
      }
    }
    json.append('"');
  }
}
