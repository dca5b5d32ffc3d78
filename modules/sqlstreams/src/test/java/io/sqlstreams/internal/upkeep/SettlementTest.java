package io.sqlstreams.internal.upkeep;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Set;
import org.junit.jupiter.api.Test;

class SettlementTest {
  private final Settlement settlement = new Settlement();

  @Test
  void withoutWritersAllThatWasDrawnIsSettled() {
    settlement.looked("s1", 100, Set.of());
    assertThat(settlement.isSettled(100)).isTrue();
    assertThat(settlement.isSettled(101)).isFalse();
  }

  @Test
  void writersThatWereThereFirstAreWaitedForAlone() {
    settlement.looked("s1", 100, Set.of("3/7", "4/1"));
    assertThat(settlement.isSettled(1)).isFalse();
    settlement.looked("s1", 150, Set.of("4/1", "5/2"));
    assertThat(settlement.isSettled(1)).isFalse();
    settlement.looked("s1", 200, Set.of("5/2"));
    assertThat(settlement.isSettled(100)).isTrue();
    assertThat(settlement.isSettled(101)).as("5/2 came after 100 was drawn, but is open").isFalse();
    settlement.looked("s1", 250, Set.of("6/1"));
    assertThat(settlement.isSettled(200)).isTrue();
  }

  /** What was drawn may have been lost with it, and be drawn again. */
  @Test
  void whatAnotherServerShowedCountsNoMore() {
    settlement.looked("s1", 100, Set.of());
    settlement.looked("s2", 90, Set.of("3/1"));
    assertThat(settlement.isSettled(80)).isFalse();
    settlement.looked("s2", 95, Set.of());
    assertThat(settlement.isSettled(95)).isTrue();
    assertThat(settlement.isSettled(100)).isFalse();
  }

  /** A restart takes the name from a prepared transaction under which it was listed. */
  @Test
  void aPreparedTransactionThatOutlivedTheServerHoldsAll() {
    settlement.looked("s1", 100, Set.of("-1/700"));
    settlement.looked("s1", 100, Set.of("-1/700", "3/4"));
    assertThat(settlement.isSettled(1)).isFalse();
    settlement.looked("s1", 100, Set.of("3/4"));
    assertThat(settlement.isSettled(100)).isTrue();
  }
}
