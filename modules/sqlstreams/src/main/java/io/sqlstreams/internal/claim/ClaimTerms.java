package io.sqlstreams.internal.claim;

import io.sqlstreams.config.Concurrency;
import io.sqlstreams.config.DeliveryLogMode;
import java.util.Collection;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * What a session says of itself and its group when it claims.
 *
 * @param concurrency how the messages of a key are handed out that don't ask for a way
 * @param concurrencyOverride the same for all of them; null to let them ask
 * @param deliveryLog which steps leave a row in the delivery log
 * @param held the tokens that the session holds: nothing of its own is taken over or reported as
 *     expired
 * @param chained those of ranges in whose keys the session itself keeps the order
 */
public record ClaimTerms(
    Concurrency concurrency,
    @Nullable Concurrency concurrencyOverride,
    DeliveryLogMode deliveryLog,
    Collection<UUID> held,
    Collection<UUID> chained) {}
