package io.sqlstreams;

import io.sqlstreams.config.MigrationScope;
import org.jspecify.annotations.Nullable;

/**
 * A step that was taken.
 *
 * @param scope which kind of tables
 * @param stream the stream whose family it was; null for the control plane
 * @param version the version that was applied or taken back
 * @param down whether it was taken back
 */
public record MigrationStep(
    MigrationScope scope, @Nullable String stream, int version, boolean down) {}
