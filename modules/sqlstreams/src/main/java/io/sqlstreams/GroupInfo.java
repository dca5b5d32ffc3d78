package io.sqlstreams;

import io.sqlstreams.config.GroupConfig;
import java.time.Instant;

/**
 * A registered consumer group.
 *
 * @param id the group's number, above 0
 * @param name its name
 * @param config its settings
 * @param createdAt when it was registered, by the database's clock
 */
public record GroupInfo(long id, String name, GroupConfig config, Instant createdAt) {}
