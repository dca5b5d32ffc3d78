package io.sqlstreams.cli;

import io.sqlstreams.error.NotInstalledException;
import io.sqlstreams.error.SqlStreamsException;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

/** How a failure looks: one line on stderr, and the exit code. */
final class Errors {
  private static final String PREFIX = "sqlstreams: ";

  private Errors() {}

  /** Wrong usage: 2. */
  static int usage(ParameterException e, String[] args) {
    CommandLine command = e.getCommandLine();
    StringBuilder line = new StringBuilder(oneLine(e));
    if (e instanceof UnmatchedArgumentException unmatched
        && !unmatched.getSuggestions().isEmpty()) {
      line.append(": did you mean ")
          .append(String.join(" or ", unmatched.getSuggestions()))
          .append('?');
    }
    String help = command.getCommandSpec().qualifiedName() + " --help";
    print(command, line + ": see '" + help + "'");
    return ExitCode.USAGE;
  }

  /** A command that failed: 1. */
  static int execution(Exception e, CommandLine command, ParseResult parsed) {
    command.getOut().flush();
    print(command, describe(e));
    return ExitCode.SOFTWARE;
  }

  static int unreadableArguments(CommandLine command) {
    print(
        command,
        "the arguments hold characters that this locale can't carry: set LC_ALL=C.UTF-8, or give the payload on stdin");
    return ExitCode.USAGE;
  }

  private static String describe(Exception e) {
    if (e instanceof NotInstalledException notInstalled) {
      return "there is no SQLStreams installation in schema \""
          + notInstalled.schema()
          + "\": run 'sqlstreams system register' once, or correct --schema";
    }
    if (e instanceof SqlStreamsException || e instanceof CliException) {
      return oneLine(e);
    }
    if (e instanceof IOException || e instanceof UncheckedIOException) {
      return "reading or writing failed: " + oneLine(e);
    }
    StackTraceElement[] trace = e.getStackTrace();
    String place = trace.length == 0 ? "" : " at " + trace[0];
    return "this is a fault of sqlstreams itself, please report it: "
        + e.getClass().getName()
        + ": "
        + oneLine(e)
        + place;
  }

  private static String oneLine(Exception e) {
    @Nullable String message = e.getMessage();
    return message == null ? e.getClass().getSimpleName() : Text.oneLine(message);
  }

  private static void print(CommandLine command, String message) {
    command.getErr().println(PREFIX + message);
    command.getErr().flush();
  }
}
