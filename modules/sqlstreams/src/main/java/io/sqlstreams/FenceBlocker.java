package io.sqlstreams;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * An open transaction that has drawn ids of a stream, or may have, and holds its groups up until it
 * ends. Immutable.
 *
 * @param pid the process id of its session; null when it is a prepared transaction, which the view
 *     {@code pg_prepared_xacts} names
 * @param application the {@code application_name} of its session; null when it is a prepared
 *     transaction, or when this role may not see that, for which it needs {@code pg_read_all_stats}
 * @param age how long it is open; null when {@code application} is
 */
public record FenceBlocker(
    @Nullable Integer pid, @Nullable String application, @Nullable Duration age) {}
