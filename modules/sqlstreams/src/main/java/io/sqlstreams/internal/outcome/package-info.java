/** What becomes of a message when its handler ends, and the statements that record it. */
@NullMarked
package io.sqlstreams.internal.outcome;

import org.jspecify.annotations.NullMarked;
