/**
 * How a consumption learns that there may be news: from the producers of its own process, by
 * notifications of others, and by one look for all consumptions of the process.
 */
@NullMarked
package io.sqlstreams.internal.wake;

import org.jspecify.annotations.NullMarked;
