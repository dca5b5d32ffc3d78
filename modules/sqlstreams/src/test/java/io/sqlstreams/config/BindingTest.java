package io.sqlstreams.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.error.InvalidInputException;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class BindingTest {
  private static final GroupConfig ALL = GroupConfig.defaults();

  @Test
  void aPatternIsAtItsLimitOrBelow() {
    assertThat(Binding.routingKey("x".repeat(1_024)).pattern()).hasSize(1_024);
    assertThat(Binding.routingKey("é".repeat(512)).pattern()).hasSize(512);
    refused("pattern", () -> Binding.routingKey("x".repeat(1_025)));
    refused("pattern", () -> Binding.routingKey("é".repeat(512) + "x"));
  }

  @Test
  void whatIsNoPatternIsRefused() {
    refused("pattern", () -> Binding.routingKey(""));
    refused("pattern", () -> Binding.routingKey(null));
    refused("pattern", () -> Binding.routingKey("a\0b"));
    refused("pattern", () -> Binding.routingKey("a\ud800b"));
    refused("pattern", () -> Binding.routingKey("\udc00"));
    assertThat(Binding.routingKey("🙂").pattern()).isEqualTo("🙂");
  }

  @Test
  void aHeaderBindingWithoutAPairWouldMatchEverything() {
    refused("headers", () -> new Binding.Headers(Map.of()));
  }

  @Test
  void whatIsNoHeaderBindingIsRefused() {
    refused("headers", () -> new Binding.Headers(null));
    refused("headers", () -> Binding.header(null, "x"));
    refused("headers", () -> Binding.header("x", null));
    refused("headers", () -> Binding.header("x", "y").and("z", null));
    refused("headers", () -> Binding.header("x\0", "y"));
    refused("headers", () -> Binding.header("x", "\ud800"));
    refused("headers", () -> Binding.header("x", "y".repeat(1_024)));
    refused("headers", () -> Binding.header("x", "y").and("x", "z"));
    assertThat(Binding.header("x", "y".repeat(1_023)).headers()).hasSize(1);
    assertThat(Binding.header("", "").and("", "").headers()).isEqualTo(Map.of("", ""));
  }

  @Test
  void aBindingKeepsWhatItWasGivenAndIsEqualByIt() {
    Map<String, String> given = new HashMap<>(Map.of("a", "1", "b", "2"));
    Binding binding = new Binding.Headers(given);
    given.put("c", "3");
    assertThat(binding).isEqualTo(Binding.header("b", "2").and("a", "1"));
    assertThat(ALL.withBindings("a", "b").bindings())
        .containsExactly(Binding.routingKey("a"), Binding.routingKey("b"));
    assertThat(ALL.withBindings("a", "b", "a")).isEqualTo(ALL.withBindings("b", "a"));
    assertThat(ALL.withBindings("a")).isNotEqualTo(ALL);
    assertThat(ALL.withBindings("a").withBindings(List.of())).isEqualTo(ALL);
    assertThat(ALL.withBindings("a").withMaxRangeReclaims(1).withStart(Start.head()).bindings())
        .hasSize(1);
  }

  @Test
  void aSetHasALimit() {
    List<Binding> most =
        IntStream.range(0, GroupConfig.MAX_BINDINGS)
            .<Binding>mapToObj(i -> Binding.routingKey("k" + i))
            .toList();
    assertThat(ALL.withBindings(most).bindings()).hasSize(1_000);
    GroupConfig full = ALL.withBindings(most);
    refused(
        "bindings",
        () ->
            ALL.withBindings(
                IntStream.rangeClosed(0, GroupConfig.MAX_BINDINGS)
                    .<Binding>mapToObj(i -> Binding.routingKey("k" + i))
                    .toList()));
    assertThat(full.bindings()).hasSize(GroupConfig.MAX_BINDINGS);
  }

  @Test
  void nullIsRefusedWhereverItIs() {
    refused("pattern", () -> ALL.withBindings((String) null));
    refused("pattern", () -> ALL.withBindings("a", (String) null));
    refused("bindings", () -> ALL.withBindings("a", (String[]) null));
    refused("bindings", () -> ALL.withBindings((Binding) null));
    refused("bindings", () -> ALL.withBindings(Binding.routingKey("a"), (Binding) null));
    refused("bindings", () -> ALL.withBindings((Collection<Binding>) null));
    refused("bindings", () -> ALL.withBindings(Arrays.asList(Binding.routingKey("a"), null)));
  }

  private static void refused(String field, Runnable what) {
    assertThatThrownBy(what::run)
        .isInstanceOfSatisfying(
            InvalidInputException.class, e -> assertThat(e.field()).isEqualTo(field));
  }
}
