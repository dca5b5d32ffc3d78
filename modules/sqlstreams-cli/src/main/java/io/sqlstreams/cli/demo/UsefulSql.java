package io.sqlstreams.cli.demo;

import java.util.List;

/** Statements with which to look inside: the tables are there to be read. */
final class UsefulSql {
  /**
   * @param question what it answers
   * @param sql the statement
   */
  record Statement(String question, String sql) {}

  private UsefulSql() {}

  /**
   * @param schema the schema of the installation
   * @param stream the stream's id, which names its tables
   */
  static List<Statement> of(String schema, long stream) {
    return List.of(
        new Statement(
            "the messages, as they were produced",
            fill(
                "SELECT id, routing_key, message_key, created_at FROM {schema}.message_log_{stream} ORDER BY id LIMIT 5;",
                schema,
                stream)),
        new Statement(
            "what is in them",
            fill(
                "SELECT routing_key, count(*) FROM {schema}.message_log_{stream} GROUP BY routing_key ORDER BY count(*) DESC LIMIT 5;",
                schema,
                stream)),
        new Statement(
            "how far each group is",
            fill(
                "SELECT g.name, c.claimed, c.committed FROM {schema}.consumer_group_cursor_{stream} c JOIN {schema}.consumer_group_config g ON g.id = c.consumer_group_id;",
                schema,
                stream)),
        new Statement(
            "who works on what (empty once all is done)",
            fill(
                "SELECT consumer_group_id, low, high, expires_at, reclaims FROM {schema}.claim_lease_{stream};",
                schema,
                stream)),
        new Statement(
            "messages that wait for a retry or are dead (empty once all is done)",
            fill(
                "SELECT consumer_group_id, message_id, status, attempts, last_error FROM {schema}.exception_queue_{stream};",
                schema,
                stream)),
        new Statement(
            "every failed attempt",
            fill(
                "SELECT consumer_group_id, message_id, attempt, status, error FROM {schema}.delivery_log_{stream} ORDER BY id LIMIT 5;",
                schema,
                stream)));
  }

  private static String fill(String sql, String schema, long stream) {
    return sql.replace("{schema}", schema).replace("{stream}", Long.toString(stream));
  }
}
