package io.sqlstreams.internal.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.error.InvalidInputException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TemplateTest {
  private static final Scope SCOPE = Scope.system("my_schema").stream(7);

  @Test
  void parametersBecomePlacesInTheirOrder() {
    Statement statement =
        Template.of("SELECT :b, :a::TEXT, :b FROM {schema}.message_log_{stream}").in(SCOPE);
    assertThat(statement.sql()).isEqualTo("SELECT ?, ?::TEXT, ? FROM \"my_schema\".message_log_7");
    assertThat(statement.parameters()).containsExactly("b", "a", "b");
  }

  @Test
  void commentsAndQuotedTextAreLeftAlone() {
    Statement statement = Template.of("-- why:not\nSELECT ':x', \":y\", :z -- :w").in(SCOPE);
    assertThat(statement.parameters()).containsExactly("z");
    assertThat(statement.sql()).isEqualTo("-- why:not\nSELECT ':x', \":y\", ? -- :w");
  }

  @Test
  void theNameGoesBehindTheFirstKeyword() {
    assertThat(Template.of("-- my_name\n-- why\nSELECT 1").in(SCOPE).sql())
        .isEqualTo("-- why\nSELECT /* my_name */ 1");
  }

  @Test
  void aTransactionOfItsOwnStatesItsLevel() {
    assertThat(Template.of("SELECT 1\n").asTransaction(SCOPE).sql())
        .isEqualTo("BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE;\nSELECT 1;\nCOMMIT");
  }

  @Test
  void aStreamsTableNeedsAStream() {
    assertThatThrownBy(() -> Template.of("SELECT {stream}").in(Scope.system("s")))
        .isInstanceOf(IllegalStateException.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "My",
        "1a",
        "a-b",
        "a b",
        "a\"b",
        "é",
        "x; drop table y",
        "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddX"
      })
  void b51_schemaNamesHaveARule(String name) {
    assertThatThrownBy(() -> Scope.system(name))
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContaining("lower-case");
  }
}
