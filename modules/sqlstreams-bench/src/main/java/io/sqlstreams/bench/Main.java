package io.sqlstreams.bench;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.sqlstreams.bench.idle.IdleCommand;
import java.io.PrintWriter;
import picocli.CommandLine;

/** The program. Exit codes: 0 measured, 1 failed, 2 wrong usage. */
public final class Main {
  private static final String NAME = "sqlstreams-bench";

  private Main() {}

  public static void main(String[] arguments) {
    System.exit(
        run(
            new PrintWriter(System.out, true, UTF_8),
            new PrintWriter(System.err, true, UTF_8),
            arguments));
  }

  /** Runs it and returns the exit code. */
  static int run(PrintWriter out, PrintWriter err, String... arguments) {
    BenchCommand command = new BenchCommand();
    return new CommandLine(command)
        .addSubcommand(new IdleCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setOut(out)
        .setErr(err)
        .setParameterExceptionHandler(
            (wrong, given) -> {
              err.println(NAME + ": " + oneLine(wrong) + " (--help tells more)");
              return CommandLine.ExitCode.USAGE;
            })
        .setExecutionExceptionHandler(
            (failure, line, result) -> {
              err.println(NAME + ": " + oneLine(failure));
              if (command.stacktrace) {
                failure.printStackTrace(err);
              }
              return 1;
            })
        .execute(arguments);
  }

  private static String oneLine(Exception e) {
    String message = e.getMessage() == null ? "" : e.getMessage().replaceAll("\\s*\\R\\s*", " ");
    return e instanceof BenchException || e instanceof CommandLine.ParameterException
        ? message
        : e.getClass().getSimpleName() + ": " + message;
  }
}
