package io.sqlstreams.internal.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.error.ErrorCode;
import io.sqlstreams.error.InvalidInputException;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class NamesTest {
  static Stream<String> good() {
    return Stream.concat(
        Stream.of("a", "A", "0", "7th", "a.b", "a-b", "a_b", "select", "a..b", "orders.eu-1_x"),
        Stream.of(47, 48, 55, 63, 64, 200).map("x"::repeat));
  }

  @ParameterizedTest
  @MethodSource("good")
  void taken(String name) {
    assertThat(Names.require(name)).isSameAs(name);
  }

  static Stream<String> bad() {
    return Stream.of(
        "",
        " ",
        ".a",
        "-a",
        "_a",
        "a ",
        " a",
        "a b",
        "A\"b",
        "a'b",
        "x; drop table y",
        "\u00e9".repeat(32),
        "\ud83d\ude80",
        "\ud83d",
        "a\u0000b",
        "a\n",
        "\u0661",
        "a/b",
        "x".repeat(201),
        "x".repeat(100_000));
  }

  @ParameterizedTest
  @MethodSource("bad")
  void refusedWithTheRule(String name) {
    assertThatThrownBy(() -> Names.require(name))
        .isInstanceOfSatisfying(
            InvalidInputException.class,
            e -> {
              assertThat(e.field()).isEqualTo("name");
              assertThat(e.code()).isEqualTo(ErrorCode.INVALID_INPUT);
              assertThat(e)
                  .hasMessageEndingWith(
                      "must be 1 to 200 of the letters A-Z and a-z, digits, '.', '_' and '-', a letter or digit first");
              assertThat(e.getMessage().lines()).hasSize(1);
              assertThat(e.getMessage()).hasSizeLessThan(400).doesNotContain("\u0000");
            });
  }
}
