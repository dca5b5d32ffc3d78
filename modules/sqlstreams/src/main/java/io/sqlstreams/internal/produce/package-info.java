/**
 * The way of a message into the log: checks, the two forms of writing (one statement for a few,
 * COPY for many), group commit, and writing within the caller's transaction.
 */
@NullMarked
package io.sqlstreams.internal.produce;

import org.jspecify.annotations.NullMarked;
