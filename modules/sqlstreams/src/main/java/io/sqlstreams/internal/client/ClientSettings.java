package io.sqlstreams.internal.client;

import io.sqlstreams.config.Notifications;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * How a client is to be.
 *
 * @param schema the schema of the installation
 * @param allowDestroy whether it may destroy
 * @param upkeep whether it does background work while it consumes
 * @param listenOn the data source to listen on; null for the one that it works on
 * @param notifications which notifications it uses
 */
public record ClientSettings(
    String schema,
    boolean allowDestroy,
    boolean upkeep,
    @Nullable DataSource listenOn,
    Notifications notifications) {}
