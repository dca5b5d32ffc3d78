package io.sqlstreams;

import java.time.Instant;

/**
 * The oldest message of its kind. Immutable.
 *
 * @param id its id
 * @param since since when it is of that kind, by the database's clock
 */
public record OldestMessage(long id, Instant since) {}
