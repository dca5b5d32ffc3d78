package io.sqlstreams.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.sqlstreams.error.InvalidInputException;
import java.time.Instant;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

class ExceptionFilterTest {
  private static final ExceptionFilter ALL = ExceptionFilter.all();
  private static final Instant NOON = Instant.parse("2026-03-01T12:00:00Z");

  @Test
  void whatIsNotNamedIsAny() {
    assertThat(ALL.statuses()).containsExactly(ExceptionStatus.values());
    assertThat(ALL.withMessageKey("k").withMessageKey(null)).isEqualTo(ALL);
    assertThat(ALL.withCreatedFrom(NOON).withErrorContains("no").withCreatedFrom(null))
        .isEqualTo(ALL.withErrorContains("no"));
  }

  @Test
  void theStatusesAreASetInOneOrder() {
    ExceptionFilter filter =
        ALL.withStatuses(ExceptionStatus.DEAD, ExceptionStatus.READY, ExceptionStatus.DEAD);
    assertThat(filter.statuses()).hasToString("[READY, DEAD]");
    assertThatThrownBy(() -> filter.statuses().add(ExceptionStatus.INFLIGHT))
        .isInstanceOf(UnsupportedOperationException.class);
  }

  @Test
  void whatNoMessageCanMeetIsRefused() {
    refused(() -> ALL.withStatuses(), "statuses");
    refused(() -> ALL.withMessageIds(-1, 1), "firstId", "-1");
    refused(() -> ALL.withMessageIds(7, 6), "firstId", "7", "lastId", "6");
    refused(() -> ALL.withMessageKey("a\0b"), "messageKey", "U+0000");
    refused(() -> ALL.withErrorContains("\0"), "errorContains", "U+0000");
    refused(
        () -> ALL.withCreatedFrom(NOON).withCreatedBefore(NOON),
        "createdFrom",
        "createdBefore",
        NOON.toString());
  }

  @Test
  void aPageHasBounds() {
    Page page = Page.first(10);
    assertThat(List.of(page.limit(), page.after(7).limit())).containsExactly(10, 10);
    assertThat(List.of(page.afterId(), page.after(7).afterId())).containsExactly(0L, 7L);
    refused(() -> Page.first(0), "limit", "0");
    refused(() -> Page.first(Page.MAX_LIMIT + 1), "limit", "10000", "10001");
    refused(() -> page.after(-1), "afterId", "-1");
  }

  private static void refused(ThrowingCallable filter, String... named) {
    assertThatThrownBy(filter)
        .isInstanceOf(InvalidInputException.class)
        .hasMessageContainingAll(named);
  }
}
