/** Looking at groups and messages without touching them. */
@NullMarked
package io.sqlstreams.internal.inspect;

import org.jspecify.annotations.NullMarked;
