package io.sqlstreams.internal.schema;

import io.sqlstreams.config.MigrationScope;
import io.sqlstreams.internal.sql.Template;
import org.jspecify.annotations.Nullable;

/**
 * What leads from one version of some tables to the next. It runs as one transaction, on each
 * stream by itself. It changes tables and fills them only as far as that is quick: everybody who
 * works on them waits.
 *
 * @param version the version it leads to
 * @param up leads there
 * @param down leads back; null: there is no way back
 * @param minCompatibleVersion the oldest build that can work on the tables afterwards, by the
 *     newest version of this scope that it knows. What such a build reads and writes must mean the
 *     same before and after
 */
public record Step(
    int version,
    MigrationScope scope,
    Template up,
    @Nullable Template down,
    int minCompatibleVersion) {}
