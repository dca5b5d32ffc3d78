/** The background work of all processes together: who does what, and that each thing is done. */
@NullMarked
package io.sqlstreams.internal.fleet;

import org.jspecify.annotations.NullMarked;
