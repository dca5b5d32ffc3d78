/** What a round costs: WAL, statements, processor time. */
@NullMarked
package io.sqlstreams.bench.meter;

import org.jspecify.annotations.NullMarked;
