package io.sqlstreams.cli;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Whether the arguments are what the caller typed. In a locale without UTF-8 the JVM replaces every
 * other character by a question mark before {@code main} sees it, and a payload would be stored so.
 */
final class Arguments {
  private static final Path RAW =
      Path.of("/proc/self/cmdline"); // Linux alone; elsewhere the locale is UTF-8

  private Arguments() {}

  static boolean readable() {
    if (System.getProperty("sun.jnu.encoding", "UTF-8").equalsIgnoreCase("UTF-8")) {
      return true;
    }
    try {
      return isAscii(Files.readAllBytes(RAW));
    } catch (IOException e) {
      return true; // can't tell
    }
  }

  static boolean isAscii(byte[] bytes) {
    for (byte b : bytes) {
      if (b < 0) {
        return false;
      }
    }
    return true;
  }
}
