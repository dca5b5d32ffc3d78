package io.sqlstreams;

import io.sqlstreams.config.GroupConfig;
import java.time.Instant;
import java.util.List;

/**
 * A registered consumer group. Immutable.
 *
 * @param id the group's number, above 0
 * @param name its name
 * @param config its settings
 * @param schemaVersions the schema versions that it reads, ascending; empty: every version
 * @param createdAt when it was registered, by the database's clock
 */
public record GroupInfo(
    long id, String name, GroupConfig config, List<Integer> schemaVersions, Instant createdAt) {
  public GroupInfo {
    schemaVersions = List.copyOf(schemaVersions);
  }
}
