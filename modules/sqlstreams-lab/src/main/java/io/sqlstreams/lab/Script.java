package io.sqlstreams.lab;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What the handlers of one group do with a message: a step for each attempt; beyond the last one
 * they are done.
 *
 * @param steps the steps
 */
public record Script(List<Step> steps) {
  /** The step of this attempt. */
  public Step at(int attempt) {
    return attempt < steps.size() ? steps.get(attempt) : Step.of(Step.Kind.DONE);
  }

  /** A payload that carries a script for each group. */
  public static byte[] payload(List<Script> scripts) {
    return scripts.stream()
        .map(Script::toString)
        .collect(Collectors.joining("|", "\"", "\""))
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** The script for this group in a payload. */
  static Script parse(byte[] payload, int group) {
    String text = new String(payload, StandardCharsets.US_ASCII).replace("\"", "");
    String script = text.split("\\|", -1)[group];
    return new Script(
        script.isEmpty()
            ? List.of()
            : Arrays.stream(script.split(" ", -1)).map(Step::parse).toList());
  }

  @Override
  public String toString() {
    return steps.stream().map(Step::toString).collect(Collectors.joining(" "));
  }
}
