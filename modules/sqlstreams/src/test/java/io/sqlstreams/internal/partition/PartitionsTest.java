package io.sqlstreams.internal.partition;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PartitionsTest {
  @Test
  void aPartitionHoldsTheIdsAfterItsNumberTimesTheSize() {
    assertThat(Partitions.numberOf(1, 100)).isZero();
    assertThat(Partitions.numberOf(100, 100)).isZero();
    assertThat(Partitions.numberOf(101, 100)).isEqualTo(1);
    assertThat(Partitions.numberOf(200, 100)).isEqualTo(1);
    assertThat(Partitions.numberOf(Long.MAX_VALUE, 1_000_000)).isEqualTo(9_223_372_036_854L);
  }
}
