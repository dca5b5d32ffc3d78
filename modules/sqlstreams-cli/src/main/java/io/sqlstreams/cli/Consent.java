package io.sqlstreams.cli;

import java.io.Console;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The question before something is deleted for good. */
final class Consent {
  @Option(
      names = {"-y", "--yes"},
      description = "Don't ask. Needed where there is no terminal to ask on.")
  private boolean yes;

  /**
   * Asks unless it was answered beforehand.
   *
   * @param loss what would be gone
   * @throws CliException when the answer isn't yes, or can't be given
   */
  void require(String loss) {
    if (yes) {
      return;
    }
    @Nullable Console console = Terminal.console();
    if (console == null) {
      throw new CliException(
          "nothing was destroyed: this deletes " + loss + " for good; add --yes if you mean it");
    }
    @Nullable String answer = console.readLine("This deletes %s for good. Go on? [yes/no] ", loss);
    if (answer == null || !answer.strip().equalsIgnoreCase("yes")) {
      throw new CliException("nothing was destroyed: the answer wasn't yes");
    }
  }
}
