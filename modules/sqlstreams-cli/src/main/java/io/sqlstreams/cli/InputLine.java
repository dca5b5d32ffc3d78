package io.sqlstreams.cli;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.MalformedInputException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectReader;
import tools.jackson.databind.json.JsonMapper;

/**
 * A line of input that isn't empty.
 *
 * @param number its number, from 1, empty lines included
 * @param text the line without its end
 */
record InputLine(int number, String text) {
  /** Beyond this the lines aren't something to hold in memory, nor for one transaction. */
  private static final long MAX_CHARS = 64L << 20;

  private static final ObjectReader JSON =
      JsonMapper.shared().reader().with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  /**
   * Reads to the end. Bytes that aren't UTF-8 are refused: a replacement character would be stored
   * silently.
   *
   * @throws CliException when it isn't UTF-8, or too much
   */
  static List<InputLine> readAll(InputStream in) throws IOException {
    BufferedReader reader =
        new BufferedReader(
            new InputStreamReader(
                in,
                StandardCharsets.UTF_8.newDecoder().onMalformedInput(CodingErrorAction.REPORT)));
    List<InputLine> lines = new ArrayList<>();
    long chars = 0;
    int number = 1;
    try {
      for (String line = reader.readLine(); line != null; line = reader.readLine(), number++) {
        chars += line.length();
        if (chars > MAX_CHARS) {
          throw new CliException(
              "nothing was produced: stdin is above "
                  + MAX_CHARS
                  + " characters, too much for one transaction: split it");
        }
        if (!line.isBlank()) {
          lines.add(new InputLine(number, line));
        }
      }
    } catch (MalformedInputException e) {
      throw new CliException("nothing was produced: stdin isn't UTF-8: convert it first", e);
    }
    return lines;
  }

  boolean isJson() {
    try {
      JSON.readTree(text);
      return true;
    } catch (JacksonException e) {
      return false;
    }
  }
}
