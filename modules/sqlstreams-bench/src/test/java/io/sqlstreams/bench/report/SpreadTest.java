package io.sqlstreams.bench.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class SpreadTest {
  @Test
  void medianOfAnOddNumberIsTheMiddleOne() {
    assertThat(Spread.of(List.of(9.0, 1.0, 5.0))).isEqualTo(new Spread(5, 1, 9));
  }

  @Test
  void medianOfAnEvenNumberIsTheMeanOfTheMiddleTwo() {
    assertThat(Spread.of(List.of(10.0, 1.0, 4.0, 2.0))).isEqualTo(new Spread(3, 1, 10));
  }

  @Test
  void oneValueIsAllThree() {
    assertThat(Spread.of(List.of(7.5))).isEqualTo(new Spread(7.5, 7.5, 7.5));
  }

  @Test
  void nothingHasNoMedian() {
    assertThatIllegalArgumentException().isThrownBy(() -> Spread.of(List.of()));
  }

  @Test
  void oneUnknownValueMakesTheFigureUnknown() {
    assertThat(Spread.ofKnown(Arrays.asList(1.0, null))).isNull();
    assertThat(Spread.ofKnown(List.of())).isNull();
    assertThat(Spread.ofKnown(List.of(1.0, 3.0))).isEqualTo(new Spread(2, 1, 3));
  }

  @Test
  void ratiosAreTakenRoundByRound() {
    // the machine was half as fast in the second round: for both
    List<Double> ratios = Spread.ratios(List.of(80.0, 40.0, 81.0), List.of(100.0, 50.0, 100.0));
    assertThat(ratios).containsExactly(0.8, 0.8, 0.81);
    assertThat(Spread.of(ratios).median()).isEqualTo(0.8);
  }

  @Test
  void roundsThatDoNotMatchAreRefused() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> Spread.ratios(List.of(1.0), List.of(1.0, 2.0)));
  }
}
