package io.sqlstreams;

import io.sqlstreams.config.StreamConfig;
import java.time.Instant;

/**
 * A registered stream.
 *
 * @param id the number that names the stream's tables, above 0
 * @param name its name
 * @param config its settings
 * @param createdAt when it was registered, by the database's clock
 */
public record StreamInfo(long id, String name, StreamConfig config, Instant createdAt) {}
