/** How a producer wakes the consumers of its own process. */
@NullMarked
package io.sqlstreams.internal.wake;

import org.jspecify.annotations.NullMarked;
