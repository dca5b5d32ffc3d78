/** What consumers cost that have nothing to do. */
@NullMarked
package io.sqlstreams.bench.idle;

import org.jspecify.annotations.NullMarked;
