package io.sqlstreams.internal.dispatch;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class PaceTest {
  private static final int MOST = 1_000;
  private final Pace pace = new Pace(8, MOST);

  @Test
  void beginsWithAMessageForEachHandler() {
    assertThat(pace.target()).isEqualTo(8);
  }

  @Test
  void holdsWhatTheHandlersDoInASecond() {
    for (int i = 0; i < 10; i++) {
      pace.handled(Duration.ofMillis(100).toNanos(), 1);
    }
    assertThat(pace.target()).isEqualTo(80);
    assertThat(pace.target()).as("nothing new is known").isEqualTo(80);
  }

  @Test
  void isNeverBelowOneNorAboveItsBound() {
    pace.handled(Duration.ofHours(1).toNanos(), 1);
    assertThat(pace.target()).isEqualTo(1);
    Pace fast = new Pace(8, MOST);
    fast.handled(0, 1);
    assertThat(fast.target()).isEqualTo(MOST);
  }

  @Test
  void aBatchCountsByItsMessages() {
    pace.handled(Duration.ofMillis(500).toNanos(), 50);
    assertThat(pace.target()).isEqualTo(800);
  }
}
