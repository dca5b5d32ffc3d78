package io.sqlstreams.cli;

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine;

/** The entry point. */
public final class Main {
  private Main() {}

  /**
   * Runs one command and ends the process: 0 done, 1 failed, 2 wrong usage, 130 stopped by Ctrl-C.
   */
  public static void main(String[] args) {
    CommandLine commandLine = commandLine();
    // payloads are UTF-8 whatever the locale says
    commandLine.setOut(
        new PrintWriter(new FileOutputStream(FileDescriptor.out), false, StandardCharsets.UTF_8));
    commandLine.setErr(
        new PrintWriter(new FileOutputStream(FileDescriptor.err), true, StandardCharsets.UTF_8));
    int exitCode =
        Arguments.readable() ? commandLine.execute(args) : Errors.unreadableArguments(commandLine);
    commandLine.getOut().flush();
    System.exit(exitCode);
  }

  /** The commands, with what is common to all of them. */
  static CommandLine commandLine() {
    return new CommandLine(new SqlStreamsCommand())
        .setCaseInsensitiveEnumValuesAllowed(true)
        .setUsageHelpLongOptionsMaxWidth(30)
        .registerConverter(java.time.Duration.class, DurationText::parse)
        .registerConverter(io.sqlstreams.config.Start.class, StartText::parse)
        .setParameterExceptionHandler(Errors::usage)
        .setExecutionExceptionHandler(Errors::execution);
  }
}
