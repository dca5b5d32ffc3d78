/**
 * Durable message streams on PostgreSQL. Start at {@link io.sqlstreams.SqlStreams}: the client
 * names a stream, a stream names its producer and its consumer groups, and the verbs live on the
 * thing they act on.
 */
@NullMarked
package io.sqlstreams;

import org.jspecify.annotations.NullMarked;
