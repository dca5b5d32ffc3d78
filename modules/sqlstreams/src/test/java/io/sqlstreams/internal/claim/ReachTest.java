package io.sqlstreams.internal.claim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ReachTest {
  private static final long QUICK = 1_000_000;
  private static final long SLOW = Reach.LONG.toNanos() + 1;

  private final Reach reach = new Reach();

  @Test
  void whoWantsEverythingLooksAtWhatItTakes() {
    assertThat(reach.of(500)).isEqualTo(500);
    reach.ended(500, 500, 500, 500, 500, QUICK);
    assertThat(reach.of(500)).isEqualTo(500);
    assertThat(reach.of(1)).isEqualTo(1);
  }

  @Test
  void whoFindsLittleLooksFurtherUpToABound() {
    int scan = 500;
    for (int expected : new int[] {2_000, 8_000, 32_000, 50_000, 50_000}) {
      reach.ended(500, scan, scan, scan, scan / 1_000, QUICK);
      scan = reach.of(500);
      assertThat(scan).isEqualTo(expected);
    }
    assertThat(reach.of(60_000)).isEqualTo(60_000);
  }

  @Test
  void whoFindsEnoughLooksNoFurtherThanThat() {
    reach.ended(500, 500, 500, 500, 10, QUICK);
    reach.ended(500, 2_000, 2_000, 1_200, 500, QUICK);
    assertThat(reach.of(500)).isEqualTo(1_500);
    reach.ended(500, 1_500, 700, 700, 700, QUICK);
    assertThat(reach.of(500)).isEqualTo(500);
  }

  @Test
  void aGapOrTheEndOfTheLogSaysNothing() {
    reach.ended(500, 500, 500, 500, 1, QUICK);
    assertThat(reach.of(500)).isEqualTo(2_000);
    reach.ended(500, 2_000, 0, 0, 0, QUICK);
    reach.ended(500, 2_000, 1_000, 1_000, 1, QUICK);
    reach.ended(500, 2_000, 2_000, 30, 1, QUICK);
    assertThat(reach.of(500)).isEqualTo(2_000);
  }

  @Test
  void aClaimThatTakesLongLooksLessFar() {
    reach.ended(500, 32_000, 32_000, 32_000, 1, SLOW);
    assertThat(reach.of(500)).isEqualTo(8_000);
    // four times as much would be too long
    reach.ended(500, 8_000, 8_000, 8_000, 1, SLOW / 3);
    assertThat(reach.of(500)).isEqualTo(8_000);
  }
}
