package io.sqlstreams.internal.produce;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class HeadersJsonTest {
  @Test
  void namesAndValuesAreQuotedInTheirOrder() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("b", "1");
    headers.put("", "");
    headers.put("a\"\\/", "\b\t\n\u001f\u007f\u00e9\ud83d\ude00");
    assertThat(HeadersJson.of(headers))
        .isEqualTo(
            "{\"b\":\"1\",\"\":\"\",\"a\\\"\\\\/\":\"\\u0008\\u0009\\u000a\\u001f\u007f\u00e9\ud83d\ude00\"}");
    assertThat(HeadersJson.of(Map.of())).isEqualTo("{}");
  }
}
