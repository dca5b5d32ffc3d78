package io.sqlstreams.bench.load;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Collections;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

class IdSetTest {
  @Test
  void anIdCountsOnce() {
    IdSet ids = new IdSet();
    assertThat(ids.add(7)).isEqualTo(1);
    assertThat(ids.add(7)).isZero();
    assertThat(ids.add(1_000_000_000)).isEqualTo(2);
    assertThat(ids.size()).isEqualTo(2);
    assertThat(ids.contains(7)).isTrue();
    assertThat(ids.contains(8)).isFalse();
  }

  @Test
  void whatTheOtherLacksIsMissing() {
    IdSet produced = new IdSet();
    IdSet handled = new IdSet();
    for (long id = 1; id <= 200_000; id++) {
      produced.add(id);
      if (id != 3 && id != 150_000) {
        handled.add(id);
      }
    }
    handled.add(500_000);
    assertThat(produced.missingIn(handled)).isEqualTo(2);
    assertThat(handled.missingIn(produced)).isEqualTo(1);
  }

  @Test
  void threadsThatAddTheSameIdsCountEachOnce() throws Exception {
    IdSet ids = new IdSet();
    Callable<Void> adder =
        () -> {
          for (long id = 1; id <= 100_000; id++) {
            ids.add(id);
          }
          return null;
        };
    Crew.run(Collections.nCopies(4, adder));
    assertThat(ids.size()).isEqualTo(100_000);
  }
}
