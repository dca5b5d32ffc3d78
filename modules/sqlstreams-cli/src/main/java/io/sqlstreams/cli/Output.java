package io.sqlstreams.cli;

import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** How {@code show} and {@code list} print what they found: for people, or as JSON for programs. */
final class Output {
  private static final JsonMapper JSON =
      JsonMapper.builder().enable(SerializationFeature.INDENT_OUTPUT).build();

  /** The two ways. */
  enum Format {
    TEXT,
    JSON
  }

  @Spec(Spec.Target.MIXEE)
  @SuppressWarnings("NullAway.Init") // by picocli
  private CommandSpec spec;

  @Option(
      names = {"-o", "--output"},
      paramLabel = "FORMAT",
      defaultValue = "text",
      description = "text (the default) or json.")
  private Format format = Format.TEXT;

  /** One thing: a line for each field, or an object. */
  void one(Map<String, Object> fields) {
    if (format == Format.JSON) {
      out().println(JSON.writeValueAsString(fields));
      return;
    }
    int width = fields.keySet().stream().mapToInt(String::length).max().orElse(0);
    fields.forEach(
        (name, value) -> out().println(name + " ".repeat(width - name.length()) + "   " + value));
  }

  /** Many things: a row for each, or an array of objects. */
  void all(List<Map<String, Object>> things, String nothing) {
    if (format == Format.JSON) {
      out().println(JSON.writeValueAsString(things));
    } else if (things.isEmpty()) {
      out().println(nothing);
    } else {
      TextTable.lines(
              List.copyOf(things.get(0).keySet()), things.stream().map(Output::cells).toList())
          .forEach(out()::println);
    }
  }

  private PrintWriter out() {
    return spec.commandLine().getOut();
  }

  private static List<String> cells(Map<String, Object> fields) {
    return fields.values().stream().map(Objects::toString).collect(Collectors.toList());
  }
}
