/**
 * Taking messages for a group: the next run of the log, what a dead session left, and what is due
 * in the exception queue.
 */
@NullMarked
package io.sqlstreams.internal.claim;

import org.jspecify.annotations.NullMarked;
