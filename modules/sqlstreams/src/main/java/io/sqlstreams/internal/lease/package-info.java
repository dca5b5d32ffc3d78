/** The signs of life of the sessions of a process. */
@NullMarked
package io.sqlstreams.internal.lease;

import org.jspecify.annotations.NullMarked;
