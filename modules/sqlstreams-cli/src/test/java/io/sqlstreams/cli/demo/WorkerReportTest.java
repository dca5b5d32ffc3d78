package io.sqlstreams.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.sqlstreams.ConsumptionCounters;
import org.junit.jupiter.api.Test;

class WorkerReportTest {
  @Test
  void aReportSurvivesThePipe() {
    ConsumptionCounters counters = new ConsumptionCounters(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    WorkerReport report = WorkerReport.of(counters, 13);
    assertThat(report).isEqualTo(new WorkerReport(2, 3, 5, 9, 13));
    assertThat(WorkerReport.parse(report.line())).isEqualTo(report);
  }

  @Test
  void otherLinesAreNone() {
    assertThat(WorkerReport.parse("")).isNull();
    assertThat(WorkerReport.parse("report 1 2")).isNull();
    assertThat(WorkerReport.parse("Picked up JAVA_TOOL_OPTIONS: -Da -Db -Dc")).isNull();
  }
}
