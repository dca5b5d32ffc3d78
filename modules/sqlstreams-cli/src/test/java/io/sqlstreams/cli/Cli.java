package io.sqlstreams.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine;

/** Runs commands in this JVM, with what they print. */
record Cli(List<String> common) {
  /**
   * @param exitCode what the process would end with
   * @param out what it printed
   * @param err what it complained
   */
  record Result(int exitCode, String out, String err) {}

  /** With nothing but the arguments themselves. */
  static Result run(String... args) {
    CommandLine commandLine = Main.commandLine();
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    commandLine.setOut(new PrintWriter(out)).setErr(new PrintWriter(err));
    int exitCode = commandLine.execute(args);
    commandLine.getOut().flush();
    return new Result(exitCode, out.toString(), err.toString());
  }

  /** With the options that say which database. */
  Result on(String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.addAll(common);
    return run(all.toArray(String[]::new));
  }
}
