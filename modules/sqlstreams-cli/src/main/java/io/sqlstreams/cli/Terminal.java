package io.sqlstreams.cli;

import java.io.Console;
import org.jspecify.annotations.Nullable;

/** Whether a person is looking. */
public final class Terminal {
  private Terminal() {}

  /** The console; null when input or output isn't a terminal. */
  @SuppressWarnings("SystemConsoleNull") // which is why isTerminal is asked too
  public static @Nullable Console console() {
    @Nullable Console console = System.console();
    return console != null && isTerminal(console) ? console : null;
  }

  /** Whether output goes to a terminal that can move its cursor. */
  public static boolean canRedraw() {
    @Nullable String kind = System.getenv("TERM");
    return console() != null && kind != null && !kind.equals("dumb");
  }

  /** From Java 22 on there is a console without a terminal too, and a method that tells. */
  private static boolean isTerminal(Console console) {
    try {
      return (boolean) Console.class.getMethod("isTerminal").invoke(console);
    } catch (NoSuchMethodException e) {
      return true;
    } catch (ReflectiveOperationException e) {
      return false;
    }
  }
}
