/** Figures over the rounds, as a table and as JSON. */
@NullMarked
package io.sqlstreams.bench.report;

import org.jspecify.annotations.NullMarked;
