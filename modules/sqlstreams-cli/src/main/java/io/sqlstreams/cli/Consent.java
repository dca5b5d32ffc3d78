package io.sqlstreams.cli;

import java.io.Console;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The question before something that can't be undone. */
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
  void requireToDelete(String loss) {
    require("deletes " + loss + " for good");
  }

  /**
   * Asks unless it was answered beforehand.
   *
   * @param deed what this does, beginning with a verb
   * @throws CliException when the answer isn't yes, or can't be given
   */
  void require(String deed) {
    if (yes) {
      return;
    }
    @Nullable Console console = Terminal.console();
    if (console == null) {
      throw new CliException("nothing was changed: this " + deed + "; add --yes if you mean it");
    }
    @Nullable String answer = console.readLine("This %s. Go on? [yes/no] ", deed);
    if (answer == null || !answer.strip().equalsIgnoreCase("yes")) {
      throw new CliException("nothing was changed: the answer wasn't yes");
    }
  }
}
