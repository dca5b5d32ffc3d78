package io.sqlstreams.internal.sql;

import io.sqlstreams.error.InvalidInputException;
import java.util.regex.Pattern;

/**
 * Where a statement works: an installation's schema, and a stream's family of tables in it. These
 * two are all that is ever substituted into the text of a statement, and only here.
 *
 * @param schema the installation's schema, checked against {@link #SCHEMA_NAME}
 * @param streamId the number that names the stream's tables; 0 for the control plane alone
 */
public record Scope(String schema, long streamId) {
  /**
   * The rule for schema names: what PostgreSQL takes without quotes, short enough for every name
   * derived from it.
   */
  static final Pattern SCHEMA_NAME = Pattern.compile("[a-z_][a-z0-9_]{0,39}");

  public Scope {
    if (!SCHEMA_NAME.matcher(schema).matches()) {
      throw new InvalidInputException(
          "schema",
          "\""
              + schema
              + "\" must be a lower-case letter or underscore, then up to 39 lower-case letters, digits or underscores");
    }
    if (streamId < 0) {
      throw new IllegalArgumentException("stream id " + streamId);
    }
  }

  /** The control plane of an installation. */
  public static Scope system(String schema) {
    return new Scope(schema, 0);
  }

  /** A stream's family in the same installation. */
  public Scope stream(long id) {
    return new Scope(schema, id);
  }

  /** The name of the stream's log, as {@code to_regclass} takes it. */
  public String messageLog() {
    return "\"" + schema + "\".message_log_" + streamId;
  }

  String apply(String text) {
    String applied =
        text.replace("{schema}", "\"" + schema + "\"").replace("{schema_name}", schema);
    if (!applied.contains("{stream}")) {
      return applied;
    }
    if (streamId == 0) {
      throw new IllegalStateException("a statement on a stream's tables without a stream: " + text);
    }
    return applied.replace("{stream}", Long.toString(streamId));
  }
}
