/**
 * The load generator: {@link io.sqlstreams.bench.Main} reads the command line, {@link
 * io.sqlstreams.bench.Runner} goes through the rounds.
 */
@NullMarked
package io.sqlstreams.bench;

import org.jspecify.annotations.NullMarked;
