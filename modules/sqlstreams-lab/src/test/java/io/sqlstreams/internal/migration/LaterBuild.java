package io.sqlstreams.internal.migration;

import io.sqlstreams.SqlStreams;
import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.config.Notifications;
import io.sqlstreams.internal.client.Build;
import io.sqlstreams.internal.client.Client;
import io.sqlstreams.internal.client.ClientSettings;
import io.sqlstreams.internal.schema.Step;
import io.sqlstreams.internal.schema.Steps;
import io.sqlstreams.internal.sql.Template;
import io.sqlstreams.test.TestDatabase;
import java.util.List;
import java.util.stream.Collectors;
import javax.sql.DataSource;

/** A build that knows one version more than this one: every table has a further column. */
final class LaterBuild {
  private static final List<String> SYSTEM =
      List.of(
          "system_config",
          "stream_config",
          "stream_config_log",
          "stream_upkeep",
          "consumer_group_config",
          "worker_config",
          "worker_config_log",
          "worker_instance",
          "worker_instance_log",
          "schedule_config",
          "schedule_cursor",
          "migration_log");

  private static final List<String> STREAM =
      List.of(
          "message_log_{stream}",
          "idempotency_key_{stream}",
          "compaction_head_{stream}",
          "exception_queue_{stream}",
          "delivery_log_{stream}",
          "consumer_group_cursor_{stream}",
          "claim_lease_{stream}",
          "binding_config_{stream}",
          "binding_config_log_{stream}",
          "operation_log_{stream}");

  private LaterBuild() {}

  /**
   * Its steps.
   *
   * @param minCompatibleVersion the oldest build that may work on the tables afterwards
   */
  static Steps steps(int minCompatibleVersion) {
    return Steps.ofThisBuild()
        .and(
            List.of(
                new Step(
                    2,
                    MigrationScope.SYSTEM,
                    each(SYSTEM, "ADD COLUMN added TEXT"),
                    each(SYSTEM, "DROP COLUMN added"),
                    minCompatibleVersion),
                streamStep(minCompatibleVersion, "")));
  }

  /** The same, whose step on a stream begins with this. */
  static Steps stepsThatBeginWith(String sql) {
    return Steps.ofThisBuild().and(List.of(streamStep(1, sql)));
  }

  static SqlStreams client(TestDatabase database, Steps steps) {
    return client(database.dataSource(), database, steps);
  }

  static SqlStreams client(DataSource dataSource, TestDatabase database, Steps steps) {
    return Client.create(
        dataSource,
        new ClientSettings(database.schema(), true, true, null, Notifications.ALL),
        Build.of(steps));
  }

  private static Step streamStep(int minCompatibleVersion, String first) {
    return new Step(
        2,
        MigrationScope.STREAM,
        each(STREAM, "ADD COLUMN added TEXT").behind(first),
        each(STREAM, "DROP COLUMN added"),
        minCompatibleVersion);
  }

  private static Template each(List<String> tables, String change) {
    return Template.of(
        tables.stream()
            .map(table -> "ALTER TABLE {schema}." + table + " " + change + ";\n")
            .collect(Collectors.joining("", "-- change_every_table\n", "")));
  }
}
