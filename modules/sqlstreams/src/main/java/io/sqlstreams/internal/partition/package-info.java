/** The partitions of the logs: which ids each one holds, and how the next ones come to be. */
@NullMarked
package io.sqlstreams.internal.partition;

import org.jspecify.annotations.NullMarked;
