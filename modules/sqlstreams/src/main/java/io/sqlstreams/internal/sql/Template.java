package io.sqlstreams.internal.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * The text of one statement with named parameters ({@code :name}) and the placeholders of {@link
 * Scope}. A template is a constant; {@link #in} makes the statement for one installation or stream,
 * once. Immutable.
 */
public final class Template {
  /** The name; further comments; the first keyword. */
  private static final Pattern NAME = Pattern.compile("\\A-- (\\w+)\n((?:--.*\n)*)(\\w+)");

  /** See {@link #asTransactionByKeys}. */
  public static final String BY_KEYS = "SET LOCAL enable_seqscan = off";

  /** Whatever the session's defaults are: those of the pool, or what somebody left in it. */
  private static final String BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";

  private final String text;

  private Template(String text) {
    this.text = text;
  }

  /**
   * A template of this text. Its first line is a comment with its name, which goes behind the first
   * keyword: there it is kept by {@code pg_stat_statements}, which drops what stands in front of a
   * statement from PostgreSQL 18 on.
   */
  public static Template of(String text) {
    return new Template(NAME.matcher(text).replaceFirst("$2$3 /* $1 */"));
  }

  /** This template with the payload column's type in place of {@code {payload_type}}. */
  public Template withPayloadType(String sqlName) {
    return new Template(text.replace("{payload_type}", sqlName));
  }

  /**
   * This template with a number in place of {@code {name}}: the literals that DDL can't take as
   * parameters.
   */
  public Template withNumber(String name, long number) {
    return new Template(text.replace("{" + name + "}", Long.toString(number)));
  }

  /**
   * This template with a part that statements of several packages have in common in place of {@code
   * {name}}.
   */
  public Template withPart(String name, String part) {
    return new Template(text.replace("{" + name + "}", part.strip()));
  }

  /**
   * This template behind other commands: they run in the same transaction, and what they lock is
   * locked when the statement's snapshot is taken.
   */
  public Template behind(String commands) {
    return new Template(commands.strip() + "\n" + text);
  }

  /** The statement for one installation or stream. */
  public Statement in(Scope scope) {
    return parse(scope.apply(text));
  }

  /**
   * The statement for one installation or stream as a transaction of its own at READ COMMITTED, in
   * one round trip. For connections in auto-commit mode; whatever default the pool or the server
   * has doesn't count.
   */
  public Statement asTransaction(Scope scope) {
    return between(BEGIN, "COMMIT", scope);
  }

  /**
   * The same for a statement that finds its rows by keys. Its plan is kept, and may be made while a
   * table is empty and known to be: then reading all of it looks cheapest, and stays so when it has
   * filled. So reading all of a table isn't on offer.
   */
  public Statement asTransactionByKeys(Scope scope) {
    return between(BEGIN + ";\n" + BY_KEYS, "COMMIT", scope);
  }

  /**
   * The same for a look at much that is rare. The server itself refuses whatever would lock a row
   * or write one. And it plans anew: a plan that was kept may have been made while the tables were
   * empty, one that is made now knows how long they are.
   */
  public Statement asLook(Scope scope) {
    return between(
        "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY;\nSET LOCAL plan_cache_mode = force_custom_plan",
        "COMMIT",
        scope);
  }

  /** The statement for one installation or stream between two commands, in one round trip. */
  public Statement between(String first, String last, Scope scope) {
    return parse(first + ";\n" + scope.apply(text).strip() + ";\n" + last);
  }

  /** The statement for one installation or stream after a command, in one round trip. */
  public Statement after(String first, Scope scope) {
    return parse(first + ";\n" + scope.apply(text));
  }

  /**
   * The same for what may be lost with the last moments of a crashed server without harm, because
   * everything that builds on it would be lost too: the commit doesn't wait for the disk.
   */
  public Statement asRelaxedTransaction(Scope scope) {
    return between(BEGIN + ";\nSET LOCAL synchronous_commit = off", "COMMIT", scope);
  }

  /**
   * The same, and it fails rather than wait longer for a lock.
   *
   * @param millis how long it waits
   */
  public Statement asImpatientTransaction(long millis, Scope scope) {
    return between(
        "BEGIN ISOLATION LEVEL READ COMMITTED;\nSET LOCAL synchronous_commit = off;\n"
            + "SET LOCAL lock_timeout = "
            + millis,
        "COMMIT",
        scope);
  }

  /** Replaces the named parameters; skips comments, quoted text and {@code ::} casts. */
  private static Statement parse(String text) {
    StringBuilder sql = new StringBuilder(text.length());
    List<String> names = new ArrayList<>();
    int at = 0;
    while (at < text.length()) {
      int end = endOfOpaque(text, at);
      if (end == at && isParameter(text, at)) {
        end = at + 1;
        while (end < text.length() && isNamePart(text.charAt(end))) {
          end++;
        }
        names.add(text.substring(at + 1, end));
        sql.append('?');
      } else {
        end = Math.max(end, at + 1);
        sql.append(text, at, end);
      }
      at = end;
    }
    return new Statement(sql.toString(), names);
  }

  /** The end of the comment, quoted text or cast that begins here; here itself if none does. */
  private static int endOfOpaque(String text, int at) {
    if (text.startsWith("--", at)) {
      int end = text.indexOf('\n', at);
      return end < 0 ? text.length() : end;
    }
    if (text.startsWith("::", at)) {
      return at + 2;
    }
    char quote = text.charAt(at);
    if (quote == '\'' || quote == '"') {
      int end = text.indexOf(quote, at + 1);
      return end < 0 ? text.length() : end + 1;
    }
    return at;
  }

  private static boolean isParameter(String text, int at) {
    return text.charAt(at) == ':' && at + 1 < text.length() && isNamePart(text.charAt(at + 1));
  }

  private static boolean isNamePart(char c) {
    return (c >= 'a' && c <= 'z') || c == '_' || (c >= '0' && c <= '9');
  }
}
