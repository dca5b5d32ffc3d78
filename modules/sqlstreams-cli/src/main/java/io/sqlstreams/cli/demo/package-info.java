/**
 * The demo: a server, producers, worker processes, one of which is killed, and the comparison at
 * the end.
 */
@NullMarked
package io.sqlstreams.cli.demo;

import org.jspecify.annotations.NullMarked;
