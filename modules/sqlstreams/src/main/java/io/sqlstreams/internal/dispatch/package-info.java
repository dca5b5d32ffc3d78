/**
 * A running consumption: messages wait in memory for a handler, are handled, and their results are
 * collected.
 */
@NullMarked
package io.sqlstreams.internal.dispatch;

import org.jspecify.annotations.NullMarked;
