package io.sqlstreams;

import java.time.Instant;

/**
 * An installation: one PostgreSQL schema.
 *
 * @param schema the schema that holds its tables
 * @param name its name, for people; the schema's name until it is renamed
 * @param version the version of the control-plane tables
 * @param createdAt when it was installed, by the database's clock
 */
public record SystemInfo(String schema, String name, int version, Instant createdAt) {}
