package io.sqlstreams.bench.report;

import java.util.List;
import java.util.Map;

/**
 * Everything that a run has found; its JSON form is the file of {@code --json}.
 *
 * @param startedAt when it began, in UTC
 * @param machine the processors, the memory, and the Java that it ran on
 * @param server the settings as the server told them
 * @param options what was asked for
 * @param scenarios the figures, in the order in which the scenarios took turns
 */
public record RunReport(
    String startedAt,
    Map<String, String> machine,
    Map<String, String> server,
    Map<String, String> options,
    List<ScenarioReport> scenarios) {}
