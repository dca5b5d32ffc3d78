package io.sqlstreams;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * An entry of the delivery log. Immutable.
 *
 * @param attempt the number of the attempt: 0 for the first
 * @param event what became of it
 * @param error why; null when nothing failed
 * @param at when it was written, by the database's clock
 */
public record DeliveryAttempt(
    int attempt, DeliveryEvent event, @Nullable String error, Instant at) {}
