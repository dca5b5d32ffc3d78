package io.sqlstreams.bench.meter;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ProcessStatTest {
  @Test
  void readsTheLineOfLinux() {
    // the number, the program, the state, the parent; 14 to 17 are the times
    String line =
        "4711 (post) (gres) S 42 4711 4711 0 -1 4194304 917 1 0 0 150 50 7 3 20 0 1 0 118 1 2 3\n";
    assertThat(ProcessStat.parse(line))
        .isEqualTo(new ProcessStat(4711, "post) (gres", 42, 200, 10));
  }

  @Test
  void aProcessThatIsNotThereIsEmpty() {
    assertThat(ProcessStat.of(Long.MAX_VALUE)).isEmpty();
  }
}
